import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkStore
import Foundation

/// Definition documents in files and pipes.
enum DefinitionFiles {
    /// Bytes of a document: far more than the largest service has.
    private static let bytesMax = 64 << 20

    /// Reads a file, or standard input.
    static func read(_ path: String?) throws -> JSONValue {
        let handle: FileHandle
        if let path, path != "-" {
            let url = URL(filePath: (path as NSString).expandingTildeInPath)
            guard FileManager.default.isReadableFile(atPath: url.path) else {
                throw CommandFailure(.noInput, "\(url.path) is not there, or can't be read.")
            }
            handle = try FileHandle(forReadingFrom: url)
        } else {
            handle = .standardInput
        }
        var bytes = Data()
        while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
            bytes.append(piece)
            guard bytes.count <= bytesMax else { throw CommandFailure(.badData, "The document is too large.") }
        }
        do {
            return try JSONParser.parse(bytes)
        } catch {
            throw CommandFailure(.badData, "The document is not valid JSON (at its byte \(error.offset)).")
        }
    }

    /// Tells the problems of attribute rules, as `definition` tells the others.
    static func checkScripts(of definition: ServiceDefinition) throws {
        try tell(definition.scriptProblems)
    }

    private static func tell(_ problems: [DefinitionProblem]) throws {
        for problem in problems { Terminal.error("\(problem)") }
        guard problems.isEmpty else {
            throw CommandFailure(
                .badData, "The definition has \(Counted.text(problems.count, "problem")). Nothing was changed.")
        }
    }

    /// The definition of a document; all its problems go to standard error.
    static func definition(
        _ document: JSONValue, _ name: ServiceName, replacing old: ServiceDefinition? = nil
    ) throws -> ServiceDefinition {
        do {
            return try ServiceDefinition(document: document, name: name, replacing: old)
        } catch {
            try tell(error.problems)
            throw error
        }
    }

    static func merged(_ document: JSONValue, into definition: ServiceDefinition) throws -> JSONValue {
        try DefinitionEdit(updating: document).applied(to: definition.document).document
    }

    static func store(_ data: DataOption) async throws -> GeoPackageStore {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: data.url.path, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandFailure(.noInput, "\(data.url.path) is no folder. fieldwork publish makes it.")
        }
        return try await GeoPackageStore.open(at: data.url)
    }

    static func name(_ path: String) throws -> ServiceName {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1: return ServiceName(name: parts[0])
        case 2: return ServiceName(folder: parts[0], name: parts[1])
        default: throw CommandFailure(.noInput, "A service's name is Name or Folder/Name.")
        }
    }
}
