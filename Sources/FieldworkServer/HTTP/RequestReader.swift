import FieldworkREST
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Reads requests within their limits: the address, and for POST the body in any of the forms that clients use.
struct RequestReader: Sendable {
    let instance: String
    let maximumBodyBytes: Int
    let budget: BodyBudget

    /// - Throws: `ServiceError` for what the client is told; anything else means that the connection is broken.
    func read(_ request: Request, lease: inout BodyLease) async throws -> ServiceRequest {
        let address = request.head.path ?? "/"
        let target = try RequestTarget(address)
        let parameters = RequestParameters()
        return ServiceRequest(
            method: request.method, address: address, resource: Resource(target, instance: instance),
            parameters: parameters, accept: request.headers[.accept])
    }
}
