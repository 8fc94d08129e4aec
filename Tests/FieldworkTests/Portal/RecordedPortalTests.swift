import FieldworkGeometry
import Foundation
import TestSupport
import Testing

@testable import Fieldwork

/// Answers that real portals gave, recorded by others.
@Suite(
    "Recorded answers of portals",
    .enabled(if: SharedData.url("geoservices/arcgis-rest-js") != nil, "The recorded answers are not here.")
)
struct RecordedPortalTests {
    private static let portal = Portal(url: URL(filePath: "/"), connection: .anonymous)

    private static func recorded(_ path: String) throws -> JSONObject {
        let data = try Data(contentsOf: try #require(SharedData.url("geoservices/\(path)")))
        return try #require(try JSONParser.parse(data).objectValue)
    }

    @Test("A person, a portal, an item and a page of results of a real portal are read")
    func readings() throws {
        let user = try #require(
            PortalUser(
                try Self.recorded("arcgis-rest-js/responses/user-OrgAdminUserResponse.json"), portal: Self.portal))
        #expect(!user.username.isEmpty && user.role == .admin && !user.privileges.isEmpty)
        let info = PortalInfo(try Self.recorded("solution-js/getPortalsSelfResponse.json"))
        #expect(!info.organizationName.isEmpty && !info.portalName.isEmpty)
        let item = try #require(
            PortalItem(try Self.recorded("arcgis-rest-js/responses/item-ItemResponse.json"), portal: Self.portal))
        #expect(!item.title.isEmpty && item.kind != .unknown && item.creationDate != nil)
        let page = try Self.recorded("arcgis-rest-js/responses/search-BigSearchResponse.json")
        let results = (page["results"]?.arrayValue ?? []).compactMap(\.objectValue)
        let items = results.compactMap { PortalItem($0, portal: Self.portal) }
        #expect(items.count == results.count && !items.isEmpty)
        #expect(items.allSatisfy { !$0.title.isEmpty && !$0.owner.isEmpty && $0.modificationDate != nil })
        let groups = try Self.recorded("arcgis-rest-js/responses/responses-GroupSearchResponse.json")
        let found = (groups["results"]?.arrayValue ?? []).compactMap(\.objectValue)
        #expect(!found.isEmpty && found.compactMap { PortalGroup($0, portal: Self.portal) }.count == found.count)
    }
}
