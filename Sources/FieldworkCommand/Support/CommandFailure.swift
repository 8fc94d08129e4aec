import ArgumentParser
import Fieldwork
import FieldworkLocator
import FieldworkOSM
import FieldworkPortal
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation

/// What a verb could not do: a line for the person and a code for the script (those of `sysexits.h`).
struct CommandFailure: Error, Sendable {
    enum Code: Int32, Sendable {
        case badData = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case cannotCreate = 73
        case inputOutput = 74
        case temporary = 75
        case notPermitted = 77
        case interrupted = 130
    }

    var code: Code
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The failure behind an error, in words that tell what to do.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case is CancellationError: self.init(.interrupted, "Interrupted. Nothing was left half-made.")
        case let error as StoreError:
            let code: Code =
                switch error.code {
                case .serviceNotFound, .layerNotFound: .noInput
                case .serviceExists: .cannotCreate
                case .invalidDefinition, .invalidQuery, .notAGeoPackage, .notPrepared, .unsupportedVersion: .badData
                case .full: .inputOutput
                case .busy, .inDoubt: .temporary
                default: .software
                }
            self.init(code, error.message)
        case let error as PublishingError:
            let code: Code =
                switch error.kind {
                case .badData: .badData
                case .noInput: .noInput
                case .cannotCreate: .cannotCreate
                case .inputOutput: .inputOutput
                case .software: .software
                }
            self.init(code, error.description)
        case let error as FieldworkPortal.PortalError:
            let code: Code =
                switch error.kind {
                case .notFound: .noInput
                case .exists: .cannotCreate
                case .busy, .locked: .temporary
                default: .badData
                }
            self.init(code, error.message)
        case let error as FieldworkREST.ServiceError where [498, 499].contains(error.code):
            self.init(.notPermitted, Self.signInFirst)
        case let error as Fieldwork.ServiceError where [498, 499].contains(error.code):
            self.init(.notPermitted, Self.signInFirst)
        case ArcGISAuthenticationError.tokenRequired: self.init(.notPermitted, Self.signInFirst)
        case let error as ArcGISAuthenticationError: self.init(.notPermitted, error.plainDetails)
        case let error as OSMError:
            self.init(error.code == .notFound ? .noInput : .badData, error.message)
        case let error as TileError:
            self.init(error.code == .unreadable ? .inputOutput : .badData, error.message)
        case let error as LocatorError:
            self.init(error.code == .notFound ? .noInput : .badData, error.message)
        case let error as FieldworkREST.ServiceError:
            let code: Code =
                switch error.code {
                case 403: .notPermitted
                case 404: .noInput
                case 400..<500: .badData
                default: .unavailable
                }
            let gap = error.message.hasSuffix(".") ? " " : ": "
            self.init(code, ([error.message] + error.details).joined(separator: gap))
        case let error as Fieldwork.ServiceError:
            if case .connectionFailed = error {
                self.init(.unavailable, error.details)
            } else {
                self.init(error.code == 403 ? .notPermitted : .badData, error.details)
            }
        case let error as any ArcGISError: self.init(.badData, error.details)
        case let error as CocoaError where error.isFileError: self.init(.inputOutput, FileErrorWords.text(error))
        default: self.init(.software, "\(error)")
        }
    }
}

extension CommandFailure {
    private static let signInFirst = "The service wants a sign-in. fieldwork sign-in with its address signs in."
}

/// Runs a verb: failures go to standard error in one line, with their code.
func runVerb(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error as ExitCode {
        throw error
    } catch let error as ValidationError {
        throw error
    } catch {
        let failure = CommandFailure(error)
        Terminal.error("fieldwork: \(failure.message)")
        throw ExitCode(failure.code.rawValue)
    }
}
