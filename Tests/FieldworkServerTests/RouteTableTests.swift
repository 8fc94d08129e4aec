import FieldworkREST
import Foundation
import Testing

@testable import FieldworkServer

@Suite("The table of routes")
struct RouteTableTests {
    private static let table = RouteTable(instance: "arcgis")

    private static func match(_ address: String) throws -> RouteMatch? { table.match(try RequestTarget(address)) }

    @Test("Addresses match without regard to case, with and without a folder, and slashes say nothing")
    func services() throws {
        for service in ["Trees", "Parks/Trees"] {
            let match = try #require(try Self.match("/ArcGIS//REST/Services/\(service)/featureserver/0/QUERY/"))
            #expect(match.route.path == "{layer}/query" && match.route.base == .featureServer)
            #expect(match.values.service == service && match.values.layerID == 0)
        }
        #expect(try Self.match("/arcgis/rest/services/Parks")?.route.path == "services/{folder}")
        #expect(try Self.match("/")?.route.pattern == "")
    }

    @Test("Parameters are read by their kind, and the literal of an operation goes before them")
    func values() throws {
        let base = "/arcgis/rest/services/Trees/FeatureServer"
        let id = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"
        let feature = try #require(try Self.match("\(base)/2/-17"))
        #expect(feature.route.path == "{layer}/{objectId}" && feature.values.objectID == -17)
        #expect(feature.values.layerID == 2)
        let history = try #require(try Self.match("\(base)/0/%7B\(id)%7D/history/9/RESTORE"))
        #expect(history.route.method == .write && history.values.generation == 9)
        #expect(history.values.feature == .globalID(try #require(UUID(uuidString: id))))
        let photo = try #require(try Self.match("\(base)/0/4/attachments/5"))
        #expect(photo.values.objectID == 4 && photo.values.attachmentID == 5)
        #expect(try Self.match("\(base)/uploads/info")?.route.path == "uploads/info")
        #expect(try Self.match("\(base)/uploads/i12/append")?.values.text == "i12")
        #expect(try Self.match("\(base)/jobs/\(id)/status")?.values.id == UUID(uuidString: id))
        #expect(try Self.match("/arcgis/rest/admin/services/A/B/FeatureServer/3/truncate")?.values.service == "A/B")
    }

    @Test(
        "What is no operation of a service ends at the route that says so, without values of a longer way",
        arguments: ["/-1", "/0/query/more", "/0/4/attachments/x", "/jobs/17", "/nothing", "/0/4/history/5"])
    func unknownOperations(path: String) throws {
        let match = try #require(try Self.match("/arcgis/rest/services/Trees/FeatureServer\(path)"))
        #expect(match.route.path == "*" && match.values.layerID == nil)
    }

    @Test(
        "What is no address of the protocol has no route",
        arguments: ["/other/rest/info", "/arcgis/admin", "/arcgis/rest/nothing", "/favicon.ico", "/metrics/x"])
    func unknown(path: String) throws {
        #expect(try Self.match(path) == nil)
    }

    @Test("No two routes have the same address, and each parameter in a pattern is known")
    func patterns() {
        let patterns = Self.table.routes.map { $0.pattern.lowercased() }
        #expect(Set(patterns).count == patterns.count)
        for pattern in Self.table.routes.map(\.pattern) {
            for segment in pattern.split(separator: "/") where segment.first == "{" {
                #expect(RouteParameter(rawValue: String(segment.dropFirst().dropLast())) != nil, "\(pattern)")
            }
        }
    }

    @Test("Every operation that changes something needs a right to change it")
    func rightsOfWrites() {
        let writing: Set<Right> = [
            .create, .update, .delete, .edit, .upload, .sync, .administer, .member, .prove,
        ]
        for route in Self.table.routes where route.method == .write {
            #expect(writing.contains(route.right), "\(route.pattern)")
        }
        for route in Self.table.routes where route.body != .parameters { #expect(route.method == .write) }
    }

    @Test("A write is done by POST alone: a link can't do it")
    func writesArePosts() async throws {
        try await TemporaryStore.serve(trees: 1) { server, _ in
            for route in Self.table.routes where route.method == .write && route.base == .featureServer {
                let path = route.path.replacing("{layer}", with: "0").replacing("{objectId}", with: "1")
                    .replacing("{feature}", with: "1").replacing("{toGeneration}", with: "1")
                    .replacing("{conflict}", with: "1").replacing("{itemID}", with: "i1")
                let answer = try await server.client.get("Trees/FeatureServer/\(path)?f=json")
                // The right is checked first: this service takes no uploads and keeps no replicas.
                let isRefused = answer.errorCode == 400 && [.sync, .upload].contains(route.right)
                #expect(answer.errorCode == 405 || isRefused, "\(path)")
            }
        }
    }

    // MARK: The documentation

    /// The rows that `Documentation/operations.md` must have under "Addresses", in the order of the table.
    private static let documented: [String] = table.routes.filter { !$0.path.hasSuffix("*") }.map { route in
        let address =
            switch route.base {
            case .server: "/\(route.path)"
            case .instance: "/arcgis" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .tokens: "/arcgis/tokens" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .sharing: "/arcgis/sharing/\(route.path)"
            case .portal: "/arcgis/sharing/rest" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .home: "/arcgis/home" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .portalAdministration: "/arcgis/portaladmin" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .rest: "/arcgis/rest" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .featureServer: "…/FeatureServer" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .mapServer: "…/MapServer" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .webMapService: "/arcgis/services/{service}/MapServer/\(route.path)"
            case .geocodeServer: "…/GeocodeServer" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .validationServer: "…/ValidationServer" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .vectorTileServer: "…/VectorTileServer" + (route.path.isEmpty ? "" : "/\(route.path)")
            case .administration: "…/admin/…/FeatureServer" + (route.path.isEmpty ? "" : "/\(route.path)")
            }
        let method = route.method == .write ? "POST" : "GET, POST"
        let formats = route.formats.map(\.rawValue).joined(separator: ", ")
        return "| `\(address)` | \(method) | \(formats) | \(route.right.rawValue) |"
    }

    @Test("The documentation lists every route, and no other")
    func documentation() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Documentation/operations.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## Addresses\n").dropFirst().first)
        let rows = section.components(separatedBy: "\n## ")[0].split(separator: "\n").map(String.init)
            .filter { $0.hasPrefix("| `") }
        #expect(Set(Self.documented).subtracting(rows).sorted() == [], "missing in operations.md")
        #expect(Set(rows).subtracting(Self.documented).sorted() == [], "not in the table of routes")
    }

    @Test("Every right has its meaning in the documentation")
    func documentedRights() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Documentation/operations.md"), encoding: .utf8)
        for right in Right.allCases { #expect(text.contains("- **\(right.rawValue)**:"), "\(right)") }
    }
}
