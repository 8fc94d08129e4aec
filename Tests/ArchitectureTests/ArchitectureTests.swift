import Foundation
import Testing

/// The laws of `ARCHITECTURE.md`, read from the sources themselves.
@Suite("Architecture")
struct ArchitectureTests {
    /// Which of our own modules, and which C libraries and frameworks with a single home, a module may import.
    private static let arrows: [String: Set<String>] = [
        "FieldworkGeometry": ["CGEOS", "CPROJ"],
        "FieldworkArcade": ["FieldworkGeometry"],
        "FieldworkREST": ["FieldworkGeometry", "CZlib", "CDeflate"],
        "FieldworkStore": [
            "FieldworkREST", "FieldworkArcade", "FieldworkGeometry", "GRDB", "GRDBSQLite", "CSQLiteSettings",
            "CMappedFiles",
            "CLogWriting", "CFileParts", "CListedIDs",
        ],
        "FieldworkPortal": ["FieldworkStore", "FieldworkREST", "FieldworkGeometry"],
        "FieldworkPublishing": ["FieldworkStore", "FieldworkREST", "FieldworkGeometry"],
        "FieldworkOSM": ["FieldworkREST"],
        "FieldworkLocator": ["FieldworkOSM", "FieldworkStore", "FieldworkREST", "FieldworkGeometry"],
        "FieldworkTiles": [
            "FieldworkOSM", "FieldworkArcade", "FieldworkREST", "FieldworkGeometry", "CFreeType", "GRDBSQLite",
        ],
        "FieldworkJPEG": ["CTurboJPEG"],
        "FieldworkDrawing": ["FieldworkTiles", "FieldworkREST", "FieldworkGeometry", "FieldworkJPEG", "CCairo"],
        "FieldworkPostGIS": ["FieldworkStore", "FieldworkREST", "FieldworkGeometry", "CPostgres"],
        "Fieldwork": [
            "FieldworkArcade", "FieldworkLocator", "FieldworkTiles", "FieldworkStore", "FieldworkREST",
            "FieldworkGeometry", "AsyncHTTPClient",
        ],
        "FieldworkServer": [
            "FieldworkDrawing", "FieldworkArcade", "FieldworkLocator", "FieldworkPortal", "FieldworkPublishing",
            "FieldworkTiles", "FieldworkStore", "FieldworkREST", "FieldworkGeometry", "Hummingbird", "AsyncHTTPClient",
            "JWTKit",
        ],
        "FieldworkCollect": [
            "Fieldwork", "FieldworkTiles", "FieldworkJPEG", "CZBar", "CQREncode", "Hummingbird", "Mustache",
        ],
        "FieldworkCommand": [
            "Fieldwork", "FieldworkArcade", "FieldworkLocator", "FieldworkServer", "FieldworkCollect",
            "FieldworkPortal", "FieldworkPublishing", "FieldworkPostGIS", "FieldworkTiles", "FieldworkOSM",
            "FieldworkStore", "FieldworkREST", "FieldworkGeometry", "CMalloc", "CFieldworkBuild",
        ],
    ]

    /// Modules whose use is ruled: ours and those that belong in one room.
    private static let ruled: Set<String> = Set(arrows.keys).union([
        "CGEOS", "CPROJ", "CPostgres", "CMalloc", "CMappedFiles", "CLogWriting", "CFileParts", "CListedIDs",
        "CSQLiteSettings",
        "CZlib", "CDeflate",
        "CTurboJPEG", "CZBar",
        "CQREncode",
        "CFreeType", "CCairo", "CFieldworkBuild", "GRDB", "GRDBSQLite", "Hummingbird", "Mustache", "AsyncHTTPClient",
        "JWTKit", "SQLite3",
    ])

    @Test("No module imports more than its arrows allow", arguments: arrows.keys.sorted())
    func importsFollowTheArrows(module: String) throws {
        let allowed = try #require(Self.arrows[module])
        let files = try Source.files(under: "Sources/\(module)")
        try #require(!files.isEmpty, "\(module) has no sources: is the path right?")
        for file in files {
            for imported in file.imports where Self.ruled.contains(imported) && imported != module {
                #expect(allowed.contains(imported), "\(file.path) imports \(imported)")
            }
        }
    }

    @Test("Each C module has one importer")
    func cModulesHaveOneImporter() throws {
        for cModule in [
            "CGEOS", "CPROJ", "CPostgres", "CMalloc", "CMappedFiles", "CLogWriting", "CFileParts", "CListedIDs",
            "CSQLiteSettings",
            "CZlib", "CDeflate",
            "CTurboJPEG", "CZBar",
            "CQREncode",
            "CFreeType", "CCairo", "CFieldworkBuild",
        ] {
            let importers = try Set(
                Source.files(under: "Sources").filter { $0.imports.contains(cModule) }.map(\.module))
            #expect(importers.count <= 1, "\(cModule) is imported by \(importers.sorted())")
        }
    }

    @Test("What input could reach never traps on purpose")
    func noForbiddenCalls() throws {
        let forbidden = ["try!", "fatalError(", " as! ", "nonisolated(unsafe)", "TODO", "FIXME"]
        for file in try Source.files(under: "Sources") {
            for (number, line) in file.lines.enumerated() {
                for call in forbidden where line.contains(call) {
                    Issue.record("\(file.path):\(number + 1) says \(call)")
                }
            }
        }
    }

    @Test("An unchecked Sendable states its reason in the comment above it")
    func uncheckedSendableHasAReason() throws {
        for file in try Source.files(under: "Sources") {
            for (number, line) in file.lines.enumerated() where line.contains("@unchecked Sendable") {
                let above = file.lines[max(0, number - 6)..<number]
                #expect(
                    above.contains { $0.trimmingCharacters(in: .whitespaces).hasPrefix("//") },
                    "\(file.path):\(number + 1) gives no reason")
            }
        }
    }

    @Test("Third-party and generated files stay out of the sources")
    func noForeignFiles() throws {
        let foreign = try Source.paths(under: "Sources").filter {
            $0.hasSuffix(".min.js") || $0.contains("maplibre-gl.js") || $0.contains("maplibre-gl.css")
        }
        #expect(foreign.isEmpty)
    }
}
