import FieldworkREST
import Foundation
import Synchronization

/// The file of `EditConflicts`: what a service told of its conflicts last, and what was decided while it couldn't be reached.
/// Every change is read, made and written whole; nothing of it is held in memory, so that two objects may share the file.
struct KeptConflicts: Sendable {
    let file: URL

    /// What is to be done with a conflict.
    enum Decision: String, Sendable {
        case restore
        case close
    }

    struct Content {
        /// The service as it was seen last; nil when it was never reached.
        var service: ServiceDefinition?
        /// The conflicts as the service told them.
        var conflicts: [JSONValue] = []
        /// By conflict, in the order in which they were made.
        var decisions: [(id: Int64, decision: Decision)] = []
    }

    private static let gate = Mutex(())

    /// What the file holds; nothing when there is none.
    func content() throws -> Content { try Self.gate.withLock { _ in try read() } }

    func change(_ body: (inout Content) -> Void) throws {
        try Self.gate.withLock { _ in
            var content = try read()
            body(&content)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(Self.json(content).text.utf8).write(to: file, options: .atomic)
        }
    }

    private func read() throws -> Content {
        guard FileManager.default.fileExists(atPath: file.path) else { return Content() }
        let json = try JSONParser.parse(Data(contentsOf: file))
        var content = Content(conflicts: json["conflicts"]?.arrayValue ?? [])
        if let service = json["service"], !service.isNull {
            do {
                content.service = try ServiceDefinition(storageJSON: service)
            } catch {
                throw CommonError.invalidJSON(details: "The kept conflicts can't be read: \(error.message)")
            }
        }
        content.decisions = (json["decisions"]?.arrayValue ?? []).compactMap { item in
            guard let id = item["id"]?.integerValue,
                let decision = item["decision"]?.stringValue.flatMap(Decision.init(rawValue:))
            else { return nil }
            return (id, decision)
        }
        return content
    }

    private static func json(_ content: Content) -> JSONValue {
        [
            "service": content.service?.storageJSON ?? .null, "conflicts": .array(content.conflicts),
            "decisions": .array(
                content.decisions.map { ["id": .integer($0.id), "decision": .string($0.decision.rawValue)] }),
        ]
    }
}
