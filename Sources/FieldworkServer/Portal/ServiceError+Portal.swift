import FieldworkGeometry
import FieldworkPortal
import FieldworkREST

extension ServiceError {
    /// What the protocol says of a refusal by the portal.
    init(_ error: PortalError) {
        switch error.kind {
        case .notFound:
            self.init(code: 400, message: error.message)
            unknownMembers["messageCode"] = "CONT_0001"
        case .notAllowed:
            self = .forbidden
            message = error.message
        case .protected: self.init(code: 400, message: error.message)
        case .exists: self.init(code: 409, message: error.message)
        case .invalid, .overLimit: self.init(code: 400, message: error.message)
        case .wrongPassword, .locked:
            self.init(code: 400, message: "Unable to generate token.", details: [error.message])
        case .invalidToken: self = .invalidToken
        case .busy: self.init(code: ServiceError.busyCode, message: error.message)
        }
    }
}
