import Foundation
import Mustache

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

    /// - Parameter frame: what the template reads besides its own members; nil for nothing.
    func render(_ model: any TemplateModel, in frame: (any ViewModel)? = nil) throws -> Markup {
        let tags = frame.map { $0.tags.merging(model.tags) { $1 } } ?? model.tags
        return try render(type(of: model).template, tags)
    }

    private func render(_ template: String, _ tags: [String: Any]) throws -> Markup {
        guard let html = library.render(tags, withTemplate: template) else {
            throw CollectError(.resourceMissing, "The template \(template) is missing.")
        }
        return Markup(html: html)
    }
}
