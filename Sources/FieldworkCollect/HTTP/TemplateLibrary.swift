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
            if name == Self.sprite {
                for (name, icon) in Self.icons(in: text) { try library.register(icon, named: name) }
            }
        }
        self.library = library
    }

    private static let sprite = "sprite.mustache"

    /// The icons of the sprite, each as a partial under its id: `{{>i-pen}}`, and with `-s` a small one: `{{>i-pen-s}}`. Words beside it say
    /// what it means, so that readers of the page aloud don't hear of it.
    private static func icons(in sprite: String) -> [(name: String, icon: String)] {
        sprite.matches(of: /<symbol id="([a-z-]+)"/).flatMap { match in
            [("", "i"), ("-s", "i s")].map { ending, style in
                (
                    "\(match.1)\(ending)",
                    ##"<svg class="\##(style)" aria-hidden="true"><use href="#\##(match.1)"/></svg>"##
                )
            }
        }
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
