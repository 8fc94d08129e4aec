import Foundation
import FoundationXML

/// One operation of a case of the GEOS test suites.
struct GEOSCase {
    var file: String
    var first: String
    var second: String
    var operation: String
    var arguments: [String]
    var expected: String
}

/// Reads the XML of the GEOS test suites. Cases on a coarse grid of coordinates are left out: ours is floating.
final class GEOSCaseReader: NSObject, XMLParserDelegate {
    private var cases: [GEOSCase] = []
    private let file: String
    private var text = ""
    private var (first, second) = ("", "")
    private var attributes: [String: String] = [:]
    private var isFloating = true

    private init(file: String) { self.file = file }

    static func cases(in url: URL) -> [GEOSCase] {
        guard let parser = XMLParser(contentsOf: url) else { return [] }
        let reader = GEOSCaseReader(file: url.lastPathComponent)
        parser.delegate = reader
        _ = parser.parse()
        return reader.cases
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        text = ""
        if name == "precisionModel" { isFloating = attributes["type"] == "FLOATING" }
        if name == "case" { (first, second) = ("", "") }
        if name == "op" { self.attributes = attributes.reduce(into: [:]) { $0[$1.key.lowercased()] = $1.value } }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        let content = text.trimmingCharacters(in: .whitespacesAndNewlines)
        switch name {
        case "a": first = content
        case "b": second = content
        case "op" where isFloating:
            func operand(_ name: String?) -> String { name?.uppercased() == "B" ? second : first }
            cases.append(
                GEOSCase(
                    file: file, first: operand(attributes["arg1"]), second: operand(attributes["arg2"]),
                    operation: (attributes["name"] ?? "").lowercased(),
                    arguments: (1...4).map { attributes["arg\($0)"] ?? "" }, expected: content))
        default: break
        }
    }
}
