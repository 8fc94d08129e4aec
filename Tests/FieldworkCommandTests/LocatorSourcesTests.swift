import FieldworkGeometry
import FieldworkLocator
import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import FieldworkCommand

/// Files of addresses, as people have them, made into locators.
@Suite("Files that locators are made of", .fewAtATime)
struct LocatorSourcesTests {
    /// Makes a locator of files, given as their names and contents.
    private func make(
        _ files: KeyValuePairs<String, String>, chosen: [FieldMap.Role: String] = [:],
        zone: AddressZone = AddressZone(), _ test: (Locator) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sources-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let target = LocatorFile.url(name: "Made", in: folder)
        let sources = LocatorSources(chosen: chosen, zone: zone)
        let made = try await LocatorMaker(name: "Made", target: target).make { builder in
            for (name, text) in files {
                let file = folder.appending(path: name)
                try Data(text.utf8).write(to: file)
                try await sources.read(file, into: builder)
            }
        }
        #expect(made.hasPrefix("Made Made: "))
        let locator = try await Locator.open(target, readers: 1)
        try await test(locator)
        await locator.close()
    }

    private func first(_ locator: Locator, _ text: String) async throws -> String? {
        try await locator.candidates(for: text).first?.label
    }

    @Test("A table of OpenAddresses needs no further word")
    func openAddressesTable() async throws {
        let table = """
            LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH
            -122.5,45.5,120,MAIN ST,,ALDERTON,,OR,97001,1,a
            -122.501,45.5,122,MAIN ST,APT 2,ALDERTON,,OR,97001,2,b
            """
        try await make(["a.csv": table], zone: AddressZone(country: "US")) { locator in
            #expect(locator.information.addressCount == 2)
            let house = try await first(locator, "120 main st alderton")
            #expect(house == "120 MAIN ST, ALDERTON, OR, 97001")
            let unit = try await first(locator, "122 Main Street #2, Alderton")
            #expect(unit == "122 MAIN ST, APT 2, ALDERTON, OR, 97001")
        }
    }

    @Test("A feature a line is read as well, and so are collections with streets and places")
    func features() async throws {
        let lines = """
            {"type":"Feature","properties":{"number":"7","street":"Lindenstraße","city":"Köllenbach","postcode":"60001"},"geometry":{"type":"Point","coordinates":[8.5,50.1]}}
            {"type":"Feature","properties":{"number":"9","street":"Lindenstraße","city":"Köllenbach","postcode":"60001"},"geometry":{"type":"Point","coordinates":[8.501,50.1]}}
            """
        let collection = """
            {"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{"name":"Lindenstraße","city":"Köllenbach","l_f_add":1,"l_t_add":19},"geometry":{"type":"LineString","coordinates":[[8.499,50.1],[8.503,50.1]]}},
            {"type":"Feature","properties":{"name":"Nordviertel"},"geometry":{"type":"Polygon","coordinates":[[[8.4,50],[8.6,50],[8.6,50.2],[8.4,50.2],[8.4,50]]]}}]}
            """
        try await make(
            ["a.geojson": lines, "b.geojson": collection], zone: AddressZone(country: "DE")
        ) { locator in
            #expect(try await first(locator, "lindenstr. 7") == "Lindenstraße 7, 60001 Köllenbach")
            let between = try #require(try await locator.candidates(for: "Lindenstrasse 15, Köllenbach").first)
            #expect(between.kind == .streetAddress && between.number == "15", "\(between)")
            let area = try await locator.addresses(atX: 8.45, y: 50.05)
            #expect(area.first?.placeName == "Nordviertel" && area.first?.kind == .locality)
        }
    }

    @Test("Columns with other names are said; a file without any that fit is refused, with its columns")
    func columns() async throws {
        let table = "rue_nom,no,e,n\nRue Verte,12,2.3,48.8\n"
        let chosen: [FieldMap.Role: String] = [.street: "RUE_NOM", .number: "no", .x: "e", .y: "n"]
        try await make(["a.csv": table], chosen: chosen, zone: AddressZone(city: "Saulnes", country: "FR")) { locator in
            let house = try await first(locator, "12 rue verte")
            #expect(house == "12 Rue Verte, Saulnes")
        }
        await #expect {
            try await make(["a.csv": table]) { _ in }
        } throws: { "\($0)".contains("rue_nom") }
        await #expect {
            try await make(["a.csv": table], chosen: [.street: "absent"]) { _ in }
        } throws: { "\($0)".contains("absent") }
        await #expect(throws: CommandFailure.self) { try await make(["a.csv": "street,number\nElm,1\n"]) { _ in } }
        await #expect(throws: CommandFailure.self) { try await make(["a.csv": "street,x,y\n"]) { _ in } }
    }

    @Test("The demo's trees stand at addresses that its locator finds")
    func demo() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await PortlandAddresses.prepare(in: folder)
        let url = LocatorFile.url(name: PortlandAddresses.locatorName, in: folder)
        let locator = try await Locator.open(url, readers: 1)
        var (asked, near) = (0, 0)
        for tree in PortlandGrid().trees.prefix(5_000) where asked < 200 {
            guard case .geometry(let geometry) = tree.geometry, let point = geometry as? Point,
                let place = GeometryEngine.project(point, into: .wgs84),
                case .text(let address)? = tree.attributes.first(where: { $0.name == "Address" })?.value
            else { continue }
            asked += 1
            let found = try #require(try await locator.candidates(for: "\(address), Portland").first, "\(address)")
            let plane = PlaneMetres(latitude: place.y)
            if plane.distance(found.x, found.y, place.x, place.y) < 40 { near += 1 }
        }
        #expect(asked == 200 && near > 190, "\(near) of \(asked)")
        let hood = try #require(try await locator.candidates(for: "Laurelhurst").first)
        #expect(hood.kind == .locality && hood.zone.city == "Portland")
        await locator.close()
    }
}
