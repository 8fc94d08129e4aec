import FieldworkGeometry
import Foundation
import Testing

@testable import FieldworkArcade

/// The expressions that the vendor publishes, read from a checkout that `FIELDWORK_ARCADE_COLLECTION` names: nothing of them is kept
/// in this repository.
@Suite("Published Arcade expressions")
struct PublicCollectionTests {
    private static let folder = ProcessInfo.processInfo.environment["FIELDWORK_ARCADE_COLLECTION"]
        .map { URL(filePath: $0, directoryHint: .isDirectory) }

    /// A piece of code with the place where it stands.
    private struct Piece {
        var path: String
        /// 0 for a file that is a script as a whole, else the number of the block in a page.
        var number: Int
        var source: String

        var name: String { number == 0 ? path : "\(path), block \(number)" }

        var profile: ArcadeProfile {
            let folders: [(String, ArcadeProfile)] = [
                ("popup/", .popup), ("form_calculation/", .formCalculation), ("labeling/", .labeling),
                ("visualization/", .visualization), ("attribute-rules/attribute_rule_con", .attributeRuleConstraint),
                ("attribute-rules/attribute_rule_val", .attributeRuleValidation),
                ("attribute-rules/", .attributeRuleCalculation),
            ]
            return folders.first { path.hasPrefix($0.0) }?.1 ?? .any
        }

        /// Whether a script of this place is run, and not only read.
        var isRun: Bool {
            ["popup/", "form_calculation/", "labeling/", "visualization/"].contains { path.hasPrefix($0) }
        }
    }

    /// Blocks that are marked as code and are no Arcade: what stands there instead.
    private static let otherTexts = [
        "dashboard/dashboard_data/WorkforceWorkerNameAssignmentType.md, block 1": "placeholders in place of numbers",
        "popup/Match-Popup-to-Map-Value.md, block 3": "words that say what to insert",
        "popup/numeric-difference.md, block 1": "a bracket too many",
        "popup/numeric-difference.md, block 3": "a bracket too many",
        "popup/operating-hours.md, block 3": "a table of HTML",
    ]

    private static func pieces(in folder: URL) throws -> [Piece] {
        let root = folder.standardizedFileURL.path(percentEncoded: false)
        let files = FileManager.default.enumerator(at: folder.standardizedFileURL, includingPropertiesForKeys: nil)
        var pieces: [Piece] = []
        for case let file as URL in files ?? .init() where ["js", "md"].contains(file.pathExtension) {
            let text = try String(contentsOf: file, encoding: .utf8).replacing("\r\n", with: "\n")
            let full = file.standardizedFileURL.path(percentEncoded: false)
            let path = String(full.dropFirst(root.count).drop { $0 == "/" })
            if file.pathExtension == "js" {
                pieces.append(Piece(path: path, number: 0, source: text))
            } else {
                for (index, block) in blocks(text).enumerated() {
                    pieces.append(Piece(path: path, number: index + 1, source: block))
                }
            }
        }
        return pieces.sorted { ($0.path, $0.number) < ($1.path, $1.number) }
    }

    /// The fenced blocks of a page that are marked as scripts.
    private static func blocks(_ text: String) -> [String] {
        var (blocks, block): ([String], [String]?) = ([], nil)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let start = line.trimmingCharacters(in: .whitespaces).lowercased()
            guard start.hasPrefix("```") else {
                block?.append(String(line))
                continue
            }
            if let whole = block {
                blocks.append(whole.joined(separator: "\n"))
                block = nil
            } else if ["```js", "```javascript", "```arcade", "```typescript"].contains(start) {
                block = []
            } else {
                // Blocks of other languages are passed over to their end.
                block = nil
            }
        }
        return blocks
    }

    // MARK: Surroundings

    /// Names that a script may use for fields: whatever is written behind a dot or between quotes.
    private static func names(in source: String) -> [String] {
        var found: [String: String] = [:]
        for match in source.matches(of: /[.]([A-Za-z_]\w*)|["']([A-Za-z_]\w*)["']/) {
            let name = String(match.1 ?? match.2 ?? "")
            if !name.isEmpty { found[name.lowercased()] = found[name.lowercased()] ?? name }
        }
        return found.values.sorted()
    }

    /// What all fields of a generated feature hold.
    private enum Filling: CaseIterable {
        case numbers, texts, dates, nothing

        var type: String {
            switch self {
            case .numbers, .nothing: "esriFieldTypeDouble"
            case .texts: "esriFieldTypeString"
            case .dates: "esriFieldTypeDate"
            }
        }

        func value(_ index: Int) -> ArcadeValue {
            switch self {
            case .numbers: .number(Double(index) + 1.5)
            case .texts: .text("\(index + 1), Elm Street")
            case .dates: .number(1_700_000_000_000 + Double(index) * 86_400_000)
            case .nothing: .null
            }
        }
    }

    private static func context(_ script: ArcadeScript, _ piece: Piece, _ filling: Filling) -> ArcadeContext {
        let fields = names(in: piece.source).map { ArcadeField(name: $0, type: filling.type) }
        let schema = ArcadeSchema(fields: fields, geometryType: "esriGeometryPoint")
        let reference = SpatialReference.webMercator
        func feature(_ number: Int) -> ArcadeFeature {
            ArcadeFeature(
                schema: schema, values: fields.indices.map { filling.value($0 + number) },
                geometry: Point(x: Double(number) * 10, y: 20, spatialReference: reference))
        }
        func layer(_ name: String, id: String) -> ArcadeMemorySource.Layer {
            .init(
                ArcadeLayer(id: id, name: name, schema: schema, spatialReference: reference),
                features: (0..<3).map(feature))
        }
        let others = script.reads.layers.sorted { $0.name < $1.name }.map { layer($0.name, id: $0.name) }
        let related = script.reads.relationships.sorted().map {
            ArcadeMemorySource.Relationship(
                name: $0, field: fields.first?.name ?? "", otherField: fields.first?.name ?? "", other: 0)
        }
        var context = ArcadeContext(profile: piece.profile, now: 1_750_000_000_000, feature: feature(0))
        context.spatialReference = reference
        context.originalFeature = feature(1)
        context.editType = "UPDATE"
        context.viewScale = 5_000
        context.user = ArcadeUser(username: "ada", fullName: "Ada", email: "ada@example.org")
        context.data = ArcadeMemorySource(layers: [layer("Own", id: "0")] + others, relationships: related)
        return context
    }

    // MARK: Tests

    @Test(
        "Every published expression can be read",
        .enabled(if: folder != nil, "FIELDWORK_ARCADE_COLLECTION names no checkout of the collection"))
    func read() throws {
        let pieces = try Self.pieces(in: try #require(Self.folder))
        try #require(pieces.count > 150)
        var others = 0
        for piece in pieces {
            if Self.otherTexts[piece.name] != nil {
                others += 1
                continue
            }
            let script = ArcadeScript(piece.source, profile: piece.profile)
            let isRead = script.isRunnable
            #expect(isRead, "\(piece.name): \(script.problems.first.map { "\($0)" } ?? "")")
        }
        print("Read \(pieces.count - others) published expressions; \(others) blocks are no Arcade.")
    }

    @Test(
        "Every published expression of pop-ups, forms, labels and symbols runs, and none asks for what is not supported",
        .enabled(if: folder != nil, "FIELDWORK_ARCADE_COLLECTION names no checkout of the collection"))
    func run() throws {
        let pieces = try Self.pieces(in: try #require(Self.folder)).filter(\.isRun)
        try #require(pieces.count > 20)
        var (values, runs) = (0, 0)
        for piece in pieces where Self.otherTexts[piece.name] == nil {
            let script = ArcadeScript(piece.source, profile: piece.profile)
            for filling in Filling.allCases {
                runs += 1
                do throws(ArcadeError) {
                    _ = try script.value(Self.context(script, piece, filling))
                    values += 1
                } catch {
                    #expect(error.kind != .notSupported, "\(piece.name), \(filling): \(error)")
                    print("\(piece.name), \(filling): \(error)")
                }
            }
        }
        print("Ran \(pieces.count) published expressions with four features each: \(values) of \(runs) gave a value.")
    }
}
