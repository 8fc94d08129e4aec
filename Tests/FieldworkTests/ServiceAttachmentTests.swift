import FieldworkREST
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Attachments between a device and the real server.
@Suite("Attachments of a service", .fewAtATime)
struct ServiceAttachmentTests {
    /// The service as one that can't be told global ids: each attachment is then a request of its own.
    private struct WithoutGlobalIDs: ServiceClient {
        let next: any ServiceClient

        func answer(to request: ServiceRequest) async throws -> ServiceAnswer {
            var answer = try await next.answer(to: request)
            guard answer.bytes.first == UInt8(ascii: "{") else { return answer }
            let flag = "\"supportsApplyEditsWithGlobalIds\":"
            let text = String(decoding: answer.bytes, as: UTF8.self).replacing("\(flag)true", with: "\(flag)false")
            answer.bytes = Array(text.utf8)
            return answer
        }
    }

    /// How attachments reach the service.
    enum Way: CaseIterable, CustomTestStringConvertible {
        case together, singly

        var testDescription: String { self == .together ? "with the edits" : "each on its own" }
        /// The request that adds a small attachment.
        var operation: String { self == .together ? "applyEdits" : "addAttachment" }
    }

    private static let photo = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 5) })
    /// More than goes within a request of edits.
    private static let film = Data((0..<1_300_000).map { UInt8(truncatingIfNeeded: $0 &* 131 ^ $0 >> 7) })

    private struct Device {
        let geodatabase: ServiceGeodatabase
        let tree: ArcGISFeature

        init(_ service: TestService, _ way: Way, named name: String = "device") async throws {
            var environment = service.environment(device: name)
            if way == .singly { environment.client = WithoutGlobalIDs(next: service.interceptor) }
            geodatabase = ServiceGeodatabase(url: service.url, environment: environment)
            try await geodatabase.load()
            let table = try #require(geodatabase.table(withLayerID: 0))
            tree = try #require(
                try await table.queryFeatures(using: QueryParameters()).features().first { _ in true } as? ArcGISFeature
            )
        }

        func results() async throws -> [Fieldwork.EditResult] {
            try await geodatabase.applyEdits().flatMap(\.editResults).flatMap(\.attachmentResults)
        }
    }

    /// What another device finds in the service: names, types and bytes.
    private static func found(_ service: TestService) async throws -> [String: Data] {
        let other = try await Device(service, .together, named: "other-\(UUID().uuidString)")
        var result: [String: Data] = [:]
        for attachment in try await other.tree.fetchAttachments() {
            #expect(!attachment.isLocal && !attachment.hasFetchedData && attachment.id > 0)
            let data = try await attachment.data
            #expect(attachment.size == data.count && attachment.hasFetchedData)
            #expect(result.updateValue(data, forKey: attachment.name) == nil, "\(attachment.name) is there twice")
        }
        return result
    }

    @Test("Small and large ones arrive whole, and another device reads them", arguments: Way.allCases)
    func adding(_ way: Way) async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, way)
            try await device.tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            try await device.tree.addAttachment(
                named: "b.mov", contentType: "video/quicktime", data: Self.film)
            #expect(try await Self.found(service).isEmpty)
            let results = try await device.results()
            #expect(results.map { $0.error == nil } == [true, true])
            #expect(try await Self.found(service) == ["a.jpg": Self.photo, "b.mov": Self.film])
            #expect(!device.geodatabase.hasLocalEdits)
            let there = try await device.tree.attachments
            #expect(Set(there.map(\.id)) == Set(results.map { Int($0.objectID) }))
            #expect(there.map(\.contentType).sorted() == ["image/jpeg", "video/quicktime"])
        }
    }

    @Test("A file that is handed over goes to the service without being read into memory", arguments: Way.allCases)
    func addingFile(_ way: Way) async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, way)
            let file = service.folder.appending(path: "film.mov")
            try Self.film.write(to: file)
            try await device.tree.addAttachment(
                named: "film.mov", contentType: "video/quicktime", keywords: "walk round", contentsOf: file)
            // The copy on this device counts, not the file of the app.
            try FileManager.default.removeItem(at: file)
            _ = try await device.results()
            let there = try #require(try await device.tree.attachments.first)
            #expect(there.keywords == "walk round")
            let fetched = try await there.fileURL
            #expect(try Data(contentsOf: fetched) == Self.film)
        }
    }

    @Test("They are replaced and deleted", arguments: Way.allCases)
    func replacing(_ way: Way) async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, way)
            for name in ["a.jpg", "b.jpg", "c.jpg"] {
                try await device.tree.addAttachment(named: name, contentType: "image/jpeg", data: Self.photo)
            }
            _ = try await device.results()
            let there = try await device.tree.attachments.sorted { $0.name < $1.name }
            try #require(there.count == 3)
            try await device.tree.updateAttachment(
                there[0], name: "a2.mov", contentType: "video/quicktime", data: Self.film)
            try await device.tree.deleteAttachment(there[1])
            // On this device at once, in the service with the next sending.
            #expect(try await device.tree.attachments.map(\.name).sorted() == ["a2.mov", "c.jpg"])
            #expect(try await Self.found(service).keys.sorted() == ["a.jpg", "b.jpg", "c.jpg"])
            let results = try await device.results()
            #expect(results.allSatisfy { $0.error == nil } && results.count == 2)
            #expect(try await Self.found(service) == ["a2.mov": Self.film, "c.jpg": Self.photo])
        }
    }

    @Test("One that comes back with its deleted feature is there once, and is not sent where the service gives it back")
    func comesBack() async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, .together)
            let table = try #require(device.geodatabase.table(withLayerID: 0))
            let photo = try await device.tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            _ = try await device.results()
            let former = try #require(photo.globalID)
            try await device.tree.load()
            let (attributes, place) = (device.tree.attributes, device.tree.geometry)
            try await table.delete(device.tree)
            _ = try await device.results()
            let again = try #require(table.makeFeature(attributes: attributes, geometry: place) as? ArcGISFeature)
            try await table.add(again)
            try await again.addAttachment(
                named: "a.jpg", contentType: "image/jpeg", keywords: "", data: Self.photo, globalID: former)
            #expect(try await again.attachments.map(\.name) == ["a.jpg"])
            let results = try await device.results()
            #expect(results.map(\.globalID) == [former] && results.allSatisfy { $0.error == nil })
            // It was looked up, and nothing was sent after that.
            #expect(service.interceptor.sent.last == "attachments")
            #expect(try await again.attachments.map(\.globalID) == [former])
            #expect(try await Self.found(service) == ["a.jpg": Self.photo])
            #expect(!device.geodatabase.hasLocalEdits)
        }
    }

    @Test("One that is added under the id of one whose deletion is unsent stays", arguments: Way.allCases)
    func addedOverItsDeletion(_ way: Way) async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, way)
            try await device.tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            _ = try await device.results()
            let there = try #require(try await device.tree.attachments.first)
            try await device.tree.deleteAttachment(there)
            try await device.tree.addAttachment(
                named: "a.jpg", contentType: "image/jpeg", keywords: "", data: Self.photo,
                globalID: there.globalID)
            #expect(try await device.tree.attachments.count == 1)
            _ = try await device.results()
            #expect(try await Self.found(service) == ["a.jpg": Self.photo])
            #expect(!device.geodatabase.hasLocalEdits)
        }
    }

    @Test(
        "When the answer is lost nothing is there twice, also after a restart", arguments: Way.allCases, [false, true])
    func lostAnswer(_ way: Way, restarts: Bool) async throws {
        try await TestService.withTrees(1) { service in
            var device = try await Device(service, way)
            try await device.tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            try await device.tree.addAttachment(named: "b.mov", contentType: "video/quicktime", data: Self.film)
            service.interceptor.fail(way.operation, .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await device.results() }
            #expect(device.geodatabase.hasLocalEdits)
            #expect(try await Self.found(service)["a.jpg"] == Self.photo)
            if restarts { device = try await Device(service, way) }
            let results = try await device.results()
            #expect(results.count == 2 && results.allSatisfy { $0.error == nil })
            #expect(try await Self.found(service) == ["a.jpg": Self.photo, "b.mov": Self.film])
            #expect(!device.geodatabase.hasLocalEdits)
        }
    }

    @Test("When the answer to a replacement or a deletion is lost it is done once", arguments: Way.allCases)
    func lostAnswerToChange(_ way: Way) async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, way)
            for name in ["a.jpg", "b.jpg"] {
                try await device.tree.addAttachment(named: name, contentType: "image/jpeg", data: Self.photo)
            }
            _ = try await device.results()
            let there = try await device.tree.attachments.sorted { $0.name < $1.name }
            try #require(there.count == 2)
            try await device.tree.updateAttachment(there[0], name: "a2.jpg", contentType: "image/jpeg", data: Self.film)
            service.interceptor.fail(way == .together ? "applyEdits" : "updateAttachment", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await device.results() }
            _ = try await device.results()
            #expect(try await Self.found(service) == ["a2.jpg": Self.film, "b.jpg": Self.photo])
            try await device.tree.deleteAttachment(there[1])
            service.interceptor.fail(way == .together ? "applyEdits" : "deleteAttachments", .losesAnswer)
            await #expect(throws: Fieldwork.ServiceError.self) { try await device.results() }
            _ = try await device.results()
            #expect(try await Self.found(service) == ["a2.jpg": Self.film])
            #expect(!device.geodatabase.hasLocalEdits)
        }
    }

    @Test(
        "One that is replaced or deleted while it is sent fails nothing; the service has what was saved last",
        arguments: Way.allCases, [false, true])
    func changedWhileSent(_ way: Way, deletes: Bool) async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, way)
            try await device.tree.addAttachment(named: "a.mov", contentType: "video/quicktime", data: Self.film)
            try await device.tree.addAttachment(named: "b.jpg", contentType: "image/jpeg", data: Self.photo)
            service.interceptor.fail(
                way == .together ? "uploads/register" : "addAttachment",
                .answersAfter {
                    let staged = try #require(try await device.tree.attachments.first { $0.name == "a.mov" })
                    if deletes { return try await device.tree.deleteAttachment(staged) }
                    try await device.tree.updateAttachment(
                        staged, name: "a2.mov", contentType: "video/quicktime", data: Self.film + Self.photo)
                })
            #expect(try await device.results().allSatisfy { $0.error == nil })
            _ = try await device.results()
            let rest = ["b.jpg": Self.photo]
            #expect(
                try await Self.found(service)
                    == (deletes ? rest : rest.merging(["a2.mov": Self.film + Self.photo]) { $1 }))
            #expect(!device.geodatabase.hasLocalEdits)
        }
    }

    @Test("When the way is cut at any request, all is there once in the end", arguments: Way.allCases)
    func cutAnywhere(_ way: Way) async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, way)
            try await device.tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            try await device.tree.addAttachment(named: "b.mov", contentType: "video/quicktime", data: Self.film)
            // The first request meets a fault of each kind, then the second, until nothing is left to send.
            var attempts = 0
            while device.geodatabase.hasLocalEdits, attempts < 40 {
                let fault: Interceptor.Fault = attempts.isMultiple(of: 2) ? .losesAnswer : .unreachable
                service.interceptor.fail("http", fault, after: attempts / 2)
                _ = try? await device.geodatabase.applyEdits()
                service.interceptor.mend()
                attempts += 1
            }
            #expect(!device.geodatabase.hasLocalEdits)
            #expect(try await Self.found(service) == ["a.jpg": Self.photo, "b.mov": Self.film])
        }
    }

    @Test("What the service refuses stays on this device with the reason")
    func refused() async throws {
        try await TestService.withTrees(1) { service in
            let device = try await Device(service, .together)
            try await device.tree.addAttachment(named: "a.jpg", contentType: "image/jpeg", data: Self.photo)
            let rows = try await service.rows()
            let other = try await Device(service, .together, named: "other")
            let table = try #require(other.geodatabase.table(withLayerID: 0))
            try await table.delete(other.tree)
            _ = try await other.geodatabase.applyEdits()
            #expect(try await service.rows().count == rows.count - 1)
            let results = try await device.results()
            #expect(results.count == 1 && results.allSatisfy { $0.error != nil })
            #expect(device.geodatabase.hasLocalEdits)
        }
    }
}
