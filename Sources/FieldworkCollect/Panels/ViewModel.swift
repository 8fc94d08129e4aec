/// What a template, or a section of one, reads: a struct whose members have the names of the tags.
///
/// A template finds each member, also one that is nil or false, so that a member further out of the same name never shows
/// through. `TemplateModelTests` holds the tags of all templates and these members together.
protocol ViewModel: Sendable {}

/// What a template reads that is rendered by itself. A template that is a part of others reads their members.
protocol TemplateModel: ViewModel {
    /// The name of the template's file, without its ending.
    static var template: String { get }
}

/// What the template of a panel reads. It reads the members of `PanelFrame` as well.
protocol PanelModel: TemplateModel {}

/// What each panel may read besides its own members.
struct PanelFrame: ViewModel {
    /// The title of the browser's window.
    let pageTitle: String
    let mapTitle: String
}

/// HTML that was made by a template, by the SDK, or of an author's text that was looked through. It alone is written without being
/// escaped.
struct Markup: Sendable, Hashable {
    let html: String

    static let empty = Markup(html: "")
}

extension ViewModel {
    /// The members by name, as the templates' library reads them.
    var tags: [String: Any] {
        var tags: [String: Any] = [:]
        for member in Mirror(reflecting: self).children {
            if let name = member.label { tags[name] = Tag.value(member.value) }
        }
        return tags
    }
}

/// The values that the templates' library reads.
private enum Tag {
    static func value(_ member: Any) -> Any {
        switch member {
        case let text as String: text
        case let markup as Markup: markup.html
        case let model as any ViewModel: model.tags
        case let models as [any ViewModel]: models.map(\.tags)
        case let optional as any OptionalMember: optional.member.map(value) ?? false
        default: member
        }
    }
}

/// An optional member of any type.
private protocol OptionalMember {
    var member: Any? { get }
}

extension Optional: OptionalMember {
    fileprivate var member: Any? { map { $0 as Any } }
}
