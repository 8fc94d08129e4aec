import ArgumentParser
import FieldworkGeometry
import Foundation

/// What the command knows of its own verbs and options: their help is made of it, and so are the pages of the manual, the
/// completion and the reading of the configuration.
struct CommandTree: Sendable {
    struct Argument: Sendable {
        enum Kind: String, Sendable {
            case positional, option, flag
        }

        var kind: Kind
        /// Without the dashes.
        var names: [String]
        var valueName: String
        var abstract: String
        var standard: String?
        var isOptional: Bool
        var isRepeating: Bool
        var section: String?

        var name: String { names.max { $0.count < $1.count } ?? valueName }
    }

    var name: String
    var abstract: String
    var discussion: String
    var arguments: [Argument]
    var subcommands: [CommandTree]

    static func read() throws -> CommandTree {
        let json = try JSONParser.parse(Data(FieldworkCommand._dumpHelp().utf8))
        guard let command = json["command"] else {
            throw CommandFailure(.software, "The command does not know itself.")
        }
        return CommandTree(command)
    }

    private init(_ json: JSONValue) {
        name = json["commandName"]?.stringValue ?? ""
        abstract = json["abstract"]?.stringValue ?? ""
        discussion = json["discussion"]?.stringValue ?? ""
        arguments = (json["arguments"]?.arrayValue ?? []).filter { $0["shouldDisplay"]?.boolValue != false }.compactMap(
            Argument.init)
        // The parser's own `help`.
        subcommands = (json["subcommands"]?.arrayValue ?? []).filter {
            $0["commandName"]?.stringValue != "help" && $0["shouldDisplay"]?.boolValue != false
        }.map(CommandTree.init)
    }

    /// The verb that arguments begin with, and how many of them name it.
    func verb(of arguments: [String]) -> (verb: CommandTree, path: [String]) {
        guard let first = arguments.first, let next = subcommands.first(where: { $0.name == first }) else {
            return (self, [])
        }
        let (verb, path) = next.verb(of: Array(arguments.dropFirst()))
        return (verb, [first] + path)
    }

    func verb(named path: [String]) -> CommandTree? {
        guard let first = path.first else { return self }
        return subcommands.first { $0.name == first }?.verb(named: Array(path.dropFirst()))
    }

    func option(_ name: String) -> Argument? { arguments.first { $0.kind != .positional && $0.names.contains(name) } }
}

extension CommandTree.Argument {
    fileprivate init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.stringValue.flatMap(Kind.init(rawValue:)) else { return nil }
        self.kind = kind
        names = (json["names"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        valueName = json["valueName"]?.stringValue ?? ""
        abstract = json["abstract"]?.stringValue ?? ""
        standard = json["defaultValue"]?.stringValue
        isOptional = json["isOptional"]?.boolValue ?? true
        isRepeating = json["isRepeating"]?.boolValue ?? false
        section = json["sectionTitle"]?.stringValue
    }
}
