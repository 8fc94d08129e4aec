import FieldworkGeometry
import FieldworkREST
import Foundation

/// The operations of a portal's sharing API, as far as they share the way there and the reading of answers.
struct PortalClient: Sendable {
    /// `…/sharing/rest`.
    let root: URL
    let client: any ServiceClient

    init(portalURL: URL, client: any ServiceClient) {
        root = ServerRoot(portalURL)?.url("sharing/rest") ?? portalURL
        self.client = client
    }

    /// An address under the root. Each step is one step, whatever is in it.
    func address(_ steps: [String]) -> URL { steps.reduce(root) { $0.appending(component: $1) } }

    /// Asks for something, by a form where it is long. Throws `ServiceError`, and what signing in throws.
    func read(
        _ steps: [String], _ parameters: [(name: String, value: String)] = [], isAnonymous: Bool = false
    ) async throws -> JSONObject {
        var request = ServiceRequest(address(steps), parameters + [("f", "json")])
        request.isAnonymous = isAnonymous
        return try await json(request)
    }

    /// Changes something. It is sent once: a caller that can look up whether it was done may send it again.
    func write(
        _ steps: [String], _ parameters: [(name: String, value: String)], file: MultipartForm.File? = nil
    ) async throws -> JSONObject {
        var request = ServiceRequest(address(steps), parameters + [("f", "json")], isRead: false)
        request.file = file
        let answer = try await json(request)
        guard answer["success"]?.boolValue != false else {
            throw ServiceError.unknown(details: "The portal did not do it, and gives no reason.")
        }
        return answer
    }

    /// The bytes at an address of the portal.
    func data(_ steps: [String]) async throws -> Data {
        let answer = try await client.answer(to: ServiceRequest(address(steps)))
        if answer.bytes.first == UInt8(ascii: "{"), answer.bytes.count <= Int(Limits.errorAnswerBytes),
            let json = try? JSONParser.parse(answer.bytes), json["error"]?.objectValue != nil,
            let error = FieldworkREST.ServiceError(answer: json)
        {
            throw ServiceError(error)
        }
        return Data(answer.bytes)
    }

    private func json(_ request: ServiceRequest) async throws -> JSONObject {
        let answer = try await client.answer(to: request)
        guard let json = try? JSONParser.parse(answer.bytes), let object = json.objectValue else {
            throw ServiceError.unknown(details: "\(Redaction.address(root)) does not answer as a portal does.")
        }
        if object["error"]?.objectValue != nil, let error = FieldworkREST.ServiceError(answer: json) {
            throw ServiceError(error)
        }
        return object
    }
}

extension JSONObject {
    /// A moment in milliseconds since 1970.
    func date(_ name: String) -> Date? {
        self[name]?.doubleValue.flatMap { $0 > 0 ? Date(timeIntervalSince1970: $0 / 1_000) : nil }
    }

    func text(_ name: String) -> String { self[name]?.stringValue ?? "" }

    func texts(_ name: String) -> [String] { (self[name]?.arrayValue ?? []).compactMap(\.stringValue) }

    /// A whole number; nil for one that is none.
    func int(_ name: String) -> Int? { self[name]?.integerValue.flatMap { Int(exactly: $0) } }
}
