import Foundation
import Mustache

/// What a template reads: values by name. Text is escaped when it is written; only rendered templates go in unescaped.
typealias Values = [String: Any]

/// The page's templates, compiled once.
struct TemplateLibrary: Sendable {
    private let library: MustacheLibrary

    init() throws {
        let directory = AssetLibrary.resources.appendingPathComponent("templates", isDirectory: true)
        var library = MustacheLibrary()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
        where name.hasSuffix(".mustache") {
            let text = try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
            try library.register(text, named: String(name.dropLast(".mustache".count)))
        }
        self.library = library
    }

    func render(_ name: String, _ values: Values) throws -> String {
        guard let text = library.render(values, withTemplate: name) else {
            throw CollectError(.resourceMissing, "The template \(name) is missing.")
        }
        return text
    }
}

extension Optional {
    /// For a template's section: the value, or false, so that an outer value of the same name doesn't shine through.
    var orFalse: Any {
        switch self {
        case .some(let value): value
        case .none: false
        }
    }
}
