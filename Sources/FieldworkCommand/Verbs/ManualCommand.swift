import ArgumentParser
import FieldworkPublishing
import Foundation

/// `fieldwork manual`.
struct ManualCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Write pages for man, and completion for shells.",
        discussion: """
            A page for each verb, made of its help, and what bash, zsh and fish need to complete verbs and options. make install and
            make package put them in their places.

            EXAMPLES
              fieldwork manual --to /usr/local/share
              fieldwork manual --to ~/.local/share && man fieldwork-publish
            """)

    @Option(help: ArgumentHelp("The folder that gets man/man1, bash-completion, zsh and fish.", valueName: "folder"))
    var to: String

    func run() async throws {
        try await runVerb {
            let folder = URL(filePath: (to as NSString).expandingTildeInPath, directoryHint: .isDirectory)
            var count = 0
            func write(_ text: String, _ path: String) throws {
                let file = folder.appending(path: path, directoryHint: .notDirectory)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
                count += 1
            }
            for page in ManualPage.pages(of: try CommandTree.read()) { try write(page.text, "man/man1/\(page.name).1") }
            let completions: [(CompletionShell, String)] = [
                (.bash, "bash-completion/completions/fieldwork"), (.zsh, "zsh/site-functions/_fieldwork"),
                (.fish, "fish/vendor_completions.d/fieldwork.fish"),
            ]
            for (shell, path) in completions { try write(FieldworkCommand.completionScript(for: shell), path) }
            Terminal.output("Wrote \(Counted.text(count, "file")) to \(folder.path)")
        }
    }
}

/// A page of the manual, in the form that man reads.
struct ManualPage {
    let name: String
    let text: String

    /// Those of a command and of all its verbs.
    static func pages(of tree: CommandTree, _ path: [String] = []) -> [ManualPage] {
        let path = path + [tree.name]
        return [ManualPage(tree, path)] + tree.subcommands.flatMap { pages(of: $0, path) }
    }

    private init(_ verb: CommandTree, _ path: [String]) {
        let page = path.joined(separator: "-")
        name = page
        var lines = [
            #".TH "\#(page.uppercased())" 1 "" "Fieldwork \#(Version.number)" "Fieldwork""#, ".SH NAME",
            "\(Self.escaped(page)) \\- \(Self.escaped(verb.abstract))", ".SH SYNOPSIS",
            "\\fB\(Self.escaped(path.joined(separator: " ")))\\fR \(Self.escaped(Self.synopsis(verb)))",
            ".SH DESCRIPTION",
        ]
        let (description, examples) = Self.parts(verb.discussion)
        lines += [".nf"] + description.map(Self.line) + [".fi"]
        let positional = verb.arguments.filter { $0.kind == .positional }
        let options = verb.arguments.filter { $0.kind != .positional && $0.name != "help" && $0.name != "version" }
        if !positional.isEmpty {
            lines += [".SH ARGUMENTS"] + positional.flatMap { Self.entry("<\($0.valueName)>", $0) }
        }
        if !options.isEmpty {
            lines.append(".SH OPTIONS")
            lines += options.flatMap { option in
                Self.entry("--\(option.name)" + (option.kind == .option ? " <\(option.valueName)>" : ""), option)
            }
        }
        if !examples.isEmpty { lines += [".SH EXAMPLES", ".nf"] + examples.map(Self.line) + [".fi"] }
        if !verb.subcommands.isEmpty {
            lines.append(".SH SEE ALSO")
            lines += verb.subcommands.flatMap {
                [".TP", "\\fB\(Self.escaped("\(page)-\($0.name)"))\\fR(1)", Self.line($0.abstract)]
            }
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func synopsis(_ verb: CommandTree) -> String {
        var words = verb.subcommands.isEmpty ? [] : ["<verb>"]
        for argument in verb.arguments where argument.kind == .positional {
            let word = "<\(argument.valueName)>" + (argument.isRepeating ? " ..." : "")
            words.append(argument.isOptional ? "[\(word)]" : word)
        }
        if verb.arguments.contains(where: { $0.kind != .positional }) { words.append("[options]") }
        return words.joined(separator: " ")
    }

    /// The discussion, and what follows its line EXAMPLES.
    private static func parts(_ discussion: String) -> ([String], [String]) {
        let lines = discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(of: "EXAMPLES") else { return (lines, []) }
        let end = lines[start...].firstIndex { !$0.isEmpty && $0 != "EXAMPLES" && !$0.hasPrefix(" ") } ?? lines.endIndex
        return (Array(lines[..<start] + lines[end...]), Array(lines[(start + 1)..<end]))
    }

    private static func entry(_ head: String, _ argument: CommandTree.Argument) -> [String] {
        let standard = argument.standard.map { " (default: \($0))" } ?? ""
        return [".TP", "\\fB\(escaped(head))\\fR", line(argument.abstract + standard)]
    }

    /// A line that begins with a dot or a quote would be an order.
    private static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    }
}
