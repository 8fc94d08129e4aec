import Foundation
import Logging
import Testing

@testable import FieldworkCollect

/// Two windows that open maps at the same moment.
@Suite struct OpeningMapsTests {
    @Test func aWindowThatOpensAnotherMapMeanwhileGetsThatMap() async throws {
        try await DamageField.with(points: 1) { field in
            let folder = field.deviceFolder.appending(path: "second")
            let workspace = try Workspace(
                configuration: CollectConfiguration(port: 0, dataDirectory: folder), hub: EventHub(),
                logger: Logger(label: "fieldwork.collect.tests") { _ in SwiftLogNoOpLogHandler() })
            // One service under two names of this machine: two maps.
            let addresses = try ["127.0.0.1", "localhost"].map { host in
                try #require(
                    URL(
                        string:
                            "http://\(host):\(field.services.port)/arcgis/rest/services/DamageAssessment/FeatureServer"
                    ))
            }
            async let first = workspace.open(addresses[0])
            async let second = workspace.open(addresses[1])
            async let again = workspace.open(addresses[0])
            let maps = try await (first, second, again)
            #expect(maps.0.key != maps.1.key)
            #expect(maps.0 === maps.2)
            #expect(maps.1.key == MapAddress(addresses[1], ownRoot: nil).key)
        }
    }
}
