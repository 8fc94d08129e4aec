import FieldworkLocator
import FieldworkServer
import FieldworkStore
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// A locator file, asked on the device and through a server.
@Suite("Locators of an app", .fewAtATime)
struct LocatorTaskTests {
    private func serve(_ test: (_ file: LocatorTask, _ service: LocatorTask) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "locators-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await GeoPackageStore.open(at: folder)
        let url = LocatorFile.url(name: "Town", in: folder)
        let builder = try LocatorBuilder(name: "Town", at: url)
        let zone = AddressZone(city: "Alderton", region: "OR", postal: "97001", country: "US")
        try builder.add(
            StreetRecord(
                name: "Main St", zone: zone, left: NumberRange(from: 101, to: 199),
                line: [-122.5, 45.5, -122.5, 45.502]))
        for (number, y) in [("121", 45.5005), ("150", 45.501)] {
            try builder.add(AddressRecord(number: number, street: "Main St", zone: zone, x: -122.5001, y: y))
        }
        try builder.finish()
        let running = try await RunningFeatureServer.start(
            store: store, configuration: ServerConfiguration(port: 0, dataFolder: folder))
        do {
            let address = try #require(URL(string: running.servicesAddress + "/Town/GeocodeServer"))
            try await test(LocatorTask(url: url), LocatorTask(url: address))
            try await running.stop()
        } catch {
            try? await running.stop()
            throw error
        }
    }

    @Test("The file and the service answer a search, a suggestion and a place alike")
    func alike() async throws {
        try await serve { file, service in
            for locator in [file, service] {
                try await locator.load()
                let info = try #require(locator.locatorInfo)
                #expect(info.supportsSuggestions && info.spatialReference == .wgs84 && info.fullExtent != nil)
                #expect(info.resultAttributes.contains { $0.name == "Match_addr" })
                let found = try #require(try await locator.geocode(forSearchText: "121 main street alderton").first)
                #expect(found.label == "121 Main St, Alderton, OR, 97001" && found.score == 100)
                #expect(found.displayLocation?.x == -122.5001 && found.attributes["City"] as? String == "Alderton")
                let suggested = try #require(try await locator.suggest(forSearchText: "150 ma").first)
                let again = try #require(try await locator.geocode(forSuggestResult: suggested).first)
                #expect(again.label == suggested.label && again.label.hasPrefix("150 Main St"))
                let parameters = ReverseGeocodeParameters()
                parameters.isForStorage = true
                let place = Point(x: -122.50012, y: 45.5005, spatialReference: .wgs84)
                let address = try #require(
                    try await locator.reverseGeocode(forLocation: place, parameters: parameters).first)
                #expect(address.attributes["Address"] as? String == "121 Main St")
                #expect(address.attributes["Match_addr"] as? String == address.label)
                let mercator = try #require(GeometryEngine.project(place, into: .webMercator))
                #expect(try await locator.reverseGeocode(forLocation: mercator).first?.label == address.label)
                let far = Point(x: 10, y: 10, spatialReference: .wgs84)
                #expect(try await locator.reverseGeocode(forLocation: far).isEmpty)
            }
        }
    }

    @Test("Parameters limit the results, and say their reference and their attributes")
    func parameters() async throws {
        try await serve { file, service in
            for locator in [file, service] {
                let parameters = GeocodeParameters()
                parameters.maxResults = 1
                parameters.outputSpatialReference = .webMercator
                parameters.addResultAttributeName("City")
                let found = try await locator.geocode(forSearchText: "main st", using: parameters)
                #expect(found.count == 1 && found.first?.displayLocation?.spatialReference == .webMercator)
                #expect(found.first?.attributes.keys.sorted() == ["City"])
                parameters.minScore = 99
                #expect(try await locator.geocode(forSearchText: "mian st", using: parameters).isEmpty)
                parameters.minScore = 0
                parameters.searchArea = Envelope(xMin: 0, yMin: 0, xMax: 1, yMax: 1, spatialReference: .wgs84)
                #expect(try await locator.geocode(forSearchText: "main st", using: parameters).isEmpty)
            }
        }
    }

    @Test("A file that is no locator, and one that is not there, fail to load and say why")
    func unreadable() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).locator")
        defer { try? FileManager.default.removeItem(at: file) }
        await #expect(throws: LocatorTaskError.self) { try await LocatorTask(url: file).load() }
        try Data("no locator, whatever the name says; and longer than a header".utf8).write(to: file)
        let locator = LocatorTask(url: file)
        await #expect(throws: (any Error).self) { try await locator.load() }
        #expect(locator.loadStatus == .failed && locator.locatorInfo == nil)
        #expect(LocatorTask(name: "NoSuchLocator") == nil)
    }
}
