@_spi(Reflection) import Swift

@testable import FieldworkCollect

/// Reads a template as the app does, with types in place of values, and finds each tag for which there is no member, each member
/// that no tag reads, and each value that is written in a way that does not fit its type.
struct TemplateWalk {
    /// A struct of a template.
    struct Member: Hashable {
        let owner: String
        let name: String
    }

    /// What the templates that were walked have wrong.
    private(set) var problems: Set<String> = []
    private(set) var read: Set<Member> = []
    private(set) var declared: Set<Member> = []
    /// The templates that were reached.
    private(set) var templates: Set<String> = []

    private let texts: [String: String]
    /// Templates without tags of their own, such as icons.
    private let icons: Set<String>
    private var walked: Set<String> = []

    init(texts: [String: String], icons: Set<String>) {
        self.texts = texts
        self.icons = icons
    }

    /// - Parameter frame: what the template reads besides the members of its model.
    mutating func walk(_ model: any TemplateModel.Type, frame: (any ViewModel.Type)?) {
        let stack: [Any.Type] = frame.map { [$0, model] } ?? [model]
        for type in stack { declare(type) }
        walk(model.template, stack: stack)
    }

    /// The members that no template reads.
    var unread: [String] { declared.subtracting(read).map { "\($0.owner).\($0.name)" }.sorted() }

    private mutating func walk(_ template: String, stack: [Any.Type]) {
        templates.insert(template)
        // A partial may hold itself.
        guard walked.insert("\(template) \(stack.suffix(3))").inserted else { return }
        guard let text = texts[template] else {
            problems.insert("\(template): there is no such template")
            return
        }
        do {
            walk(try TemplateText.tags(text), template, stack: stack, shown: [])
        } catch {
            problems.insert("\(template): \(error)")
        }
    }

    /// - Parameter shown: the sections that the tags stand in: an optional value is there within its own.
    private mutating func walk(_ tags: [TemplateText.Tag], _ template: String, stack: [Any.Type], shown: Set<String>) {
        for tag in tags {
            switch tag {
            case .partial(let name):
                if !icons.contains(name) { walk(name, stack: stack) }
            case .variable(let name, let isMarkup):
                guard let found = find(name, stack, template) else { continue }
                write(name, found, isMarkup: isMarkup, isShown: shown.contains(name), template)
            case .section(let name, let isInverted, let inner):
                guard let found = find(name, stack, template) else { continue }
                let element = Self.element(found.type)
                if isInverted || element == Bool.self {
                    walk(inner, template, stack: stack, shown: shown)
                } else {
                    // Its members hide those further out that have the same name.
                    let hidden = Set(Self.members(element).map(\.name))
                    let known = shown.union([name]).filter { !hidden.contains(Self.parts($0)[0]) }
                    walk(inner, template, stack: stack + [element], shown: known)
                }
            }
        }
    }

    private mutating func write(_ name: String, _ found: Found, isMarkup: Bool, isShown: Bool, _ template: String) {
        let place = "\(template): {{\(name)}}"
        let written = (found.type as? any OptionalType.Type)?.wrapped ?? found.type
        if found.isOptional, !isShown { problems.insert("\(place) may be nil, and stands outside of its section") }
        if isMarkup != (written == Markup.self) {
            problems.insert("\(place) is \(isMarkup ? "no HTML, and is not" : "HTML, and is") escaped")
        }
        let texts: [Any.Type] = [Markup.self, String.self, Int.self, Int64.self, UInt64.self, Double.self]
        if !texts.contains(where: { $0 == written }) { problems.insert("\(place) is a \(written), which is no text") }
    }

    /// What a tag reads.
    private struct Found {
        let type: Any.Type
        /// Whether it may be nil.
        let isOptional: Bool
    }

    private static func parts(_ name: String) -> [String] {
        name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The member that a tag reads: of the innermost section that has one of its name.
    private mutating func find(_ name: String, _ stack: [Any.Type], _ template: String) -> Found? {
        // The element of a list of texts.
        if name == ".", let innermost = stack.last { return Found(type: innermost, isOptional: false) }
        let parts = Self.parts(name)
        let owner = stack.last { type in Self.members(type).contains { $0.name == parts[0] } }
        guard var type = owner else {
            problems.insert("\(template): {{\(name)}} is no member of \(stack.map { "\($0)" }.joined(separator: ", "))")
            return nil
        }
        var isOptional = false
        for part in parts {
            let holder = Self.element(type)
            guard let member = Self.members(holder).first(where: { $0.name == part }) else {
                problems.insert("\(template): {{\(name)}} is no member of \(type)")
                return nil
            }
            note(holder, part)
            type = member.type
            isOptional = isOptional || type is any OptionalType.Type
        }
        return Found(type: type, isOptional: isOptional)
    }

    private mutating func note(_ owner: Any.Type, _ name: String) {
        read.insert(Member(owner: String(reflecting: owner), name: name))
        for member in Self.members(owner) where member.name == name { declare(Self.element(member.type)) }
    }

    private mutating func declare(_ type: Any.Type) {
        for member in Self.members(type) { declared.insert(Member(owner: String(reflecting: type), name: member.name)) }
    }

    // MARK: Types

    /// The stored members of a struct that templates read; none of another type.
    private static func members(_ type: Any.Type) -> [(name: String, type: Any.Type)] {
        guard type is any ViewModel.Type else { return [] }
        var members: [(String, Any.Type)] = []
        _ = _forEachField(of: type) { name, _, type, _ in
            members.append((String(cString: name), type))
            return true
        }
        return members
    }

    /// What a section of a type reads: the value of an optional one, the elements of a list.
    private static func element(_ type: Any.Type) -> Any.Type {
        switch type {
        case let optional as any OptionalType.Type: element(optional.wrapped)
        case let list as any ListType.Type: element(list.element)
        default: type
        }
    }
}

private protocol OptionalType {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalType {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

private protocol ListType {
    static var element: Any.Type { get }
}

extension Array: ListType {
    fileprivate static var element: Any.Type { Element.self }
}
