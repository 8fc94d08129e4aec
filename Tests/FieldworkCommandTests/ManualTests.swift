import Foundation
import Logging
import TestSupport
import Testing

@testable import FieldworkCommand

@Suite("The manual")
struct ManualTests {
    private static func verbs(_ tree: CommandTree, _ path: [String] = []) -> [(path: [String], verb: CommandTree)] {
        let path = path + [tree.name]
        return [(path, tree)] + tree.subcommands.flatMap { verbs($0, path) }
    }

    @Test("Every verb has a sentence, and every verb that does something has examples")
    func examples() throws {
        for (path, verb) in Self.verbs(try CommandTree.read()) {
            #expect(!verb.abstract.isEmpty, "\(path)")
            let above = path.dropLast().joined(separator: " ")
            let parent = Self.verbs(try CommandTree.read()).first { $0.path.joined(separator: " ") == above }
            #expect(
                verb.discussion.contains("EXAMPLES") || parent?.verb.discussion.contains("EXAMPLES") == true
                    || !verb.subcommands.isEmpty,
                "\(path) has no examples")
        }
    }

    @Test("The help of the command itself fits a terminal of 80 columns, so that its examples can be copied")
    func width() throws {
        for line in try CommandTree.read().discussion.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test("Each verb has a page with its options, and no line of text is an order to man")
    func pages() throws {
        let pages = ManualPage.pages(of: try CommandTree.read())
        #expect(Set(pages.map(\.name)).count == pages.count && pages.count > 40)
        let serve = try #require(pages.first { $0.name == "fieldwork-serve" })
        #expect(serve.text.contains(#"\fB\-\-access\-log <file>\fR"#) && serve.text.contains(".SH EXAMPLES"))
        let orders: Set = [".TH", ".SH", ".TP", ".nf", ".fi"]
        for page in pages {
            for line in page.text.split(separator: "\n") where line.hasPrefix(".") {
                #expect(orders.contains(String(line.prefix(3))), "\(page.name): \(line)")
            }
        }
    }

    @Test("A table of characters that take two cells is aligned, and what is cut says so")
    func columns() {
        #expect(TextColumns.lines([["東京", "1"], ["Oslo", "2"]]) == ["東京  1", "Oslo  2"])
        #expect(CellWidth.of("🌳a") == 3)
        #expect(CellWidth.cut("東京都庁", to: 5) == "東京…")
        #expect(CellWidth.cut("short", to: 5) == "short")
    }

    @Test("A slip in a member's name is told from a member that is not known")
    func slips() {
        for slip in ["capabilitys", "capabilites", "Capabilities2", "cpaabilities"] {
            #expect(UnknownMembers.isSlip(slip, of: "capabilities"), "\(slip)")
        }
        #expect(!UnknownMembers.isSlip("layerDefinition", of: "capabilities"))
        #expect(!UnknownMembers.isSlip("extent", of: "fields"))
    }

    @Test("A line of the log stays one line, whatever a client has sent")
    func logLines() {
        let line = LogLine(level: .warning, message: "bad\nline", metadata: ["path": "/a b\u{1B}[2J", "n": "1"])
        #expect(!line.text(.text).contains("\n") && !line.text(.text).contains("\u{1B}"))
        #expect(line.text(.text).hasSuffix(#" n=1 path="/a b\u001b[2J""#), "\(line.text(.text))")
        #expect(line.text(.json).contains(#""message":"bad\nline""#))
    }
}
