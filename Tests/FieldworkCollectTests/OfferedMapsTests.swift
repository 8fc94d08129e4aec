import Foundation
import Logging
import Testing

@testable import FieldworkCollect

/// Web maps of this device on the first page.
@Suite struct OfferedMapsTests {
    @Test("The first page offers a web map in place of the service that it shows, and the first start opens it")
    func inPlaceOfTheService() async throws {
        try await DamageField.with(points: 3) { field in
            let file = field.deviceFolder.appending(path: "Own.webmap.json")
            let layer = "\(field.services.root.absoluteString)/DamageAssessment/FeatureServer/0"
            let document = """
                {"operationalLayers":[{"id":"reports","title":"Our reports","layerType":"ArcGISFeatureLayer",
                "url":"\(layer)"}],"baseMap":{"title":"None","baseMapLayers":[]},"version":"2.31"}
                """
            try Data(document.utf8).write(to: file)
            let workspace = try Self.workspace(field, file: file)

            let entries = try await workspace.services()
            #expect(entries.map(\.title) == ["After the storm"])
            #expect(entries.first?.url == file)
            let map = try await workspace.map()
            #expect(map.layers.map(\.name) == ["Our reports"])
        }
    }

    @Test("A web map whose file is gone is not offered; its service is")
    func withoutItsFile() async throws {
        try await DamageField.with(points: 1) { field in
            let workspace = try Self.workspace(field, file: field.deviceFolder.appending(path: "gone.webmap.json"))
            let entries = try await workspace.services()
            #expect(entries.map(\.name) == ["DamageAssessment"])
            #expect(entries.first?.title == nil)
        }
    }

    private static func workspace(_ field: DamageField, file: URL) throws -> Workspace {
        try Workspace(
            configuration: CollectConfiguration(
                port: 0, servicesRoot: field.services.root, ownsServices: true,
                offeredMaps: [
                    .init(
                        file: file, serviceName: "DamageAssessment", title: "After the storm",
                        about: "Reports of damage.")
                ],
                dataDirectory: field.deviceFolder.appending(path: "second")),
            hub: EventHub(), logger: Logger(label: "fieldwork.collect.tests") { _ in SwiftLogNoOpLogHandler() })
    }
}
