import FieldworkGeometry
import FieldworkPortal
import FieldworkREST
import Foundation

/// The portal's things as the protocol writes them.
struct PortalAnswers: Sendable {
    let portal: Portal
    let request: ServiceRequest
    let instance: String
    let organisation: String

    init(_ portal: Portal, _ request: ServiceRequest, instance: String) async throws {
        self.portal = portal
        self.request = request
        self.instance = instance
        organisation = try await portal.id()
    }

    /// The portal's base address: `https://gis.example/arcgis`.
    var base: String { "\(request.origin)/\(instance)" }

    // MARK: People

    func user(_ person: Person, role: Role?) -> JSONObject {
        let words = person.fullName.split(separator: " ").map(String.init)
        let license = person.roleID == Role.viewer.id ? "viewerUT" : "creatorUT"
        var json = JSONObject([
            "username": .string(person.name), "id": .string(person.id), "fullName": .string(person.fullName),
            "firstName": .string(words.first ?? person.fullName),
            "lastName": .string(words.dropFirst().joined(separator: " ")),
            "preferredView": nil, "description": nil, "email": .string(person.email), "userType": "arcgisonly",
            "idpUsername": nil, "favGroupId": nil, "lastLogin": .integer(person.lastSignIn), "mfaEnabled": false,
            "access": "org", "storageUsage": 0, "storageQuota": 0, "orgId": .string(organisation),
            "role": .string(Self.protocolRole(person.roleID)), "roleId": .string(person.roleID), "level": "2",
            "userLicenseTypeId": .string(license),
            "disabled": .bool(person.isDisabled), "tags": [], "culture": "en", "cultureFormat": "us",
            "region": nil, "units": "metric", "thumbnail": nil, "created": .integer(person.created),
            "modified": .integer(person.modified), "provider": "arcgis",
        ])
        if let role {
            json["privileges"] = .array(role.privileges.map(\.rawValue).sorted().map(JSONValue.string))
        }
        for member in person.details.members { json[member.key] = member.value }
        return json
    }

    /// The protocol has names for three roles; the others go by their ids.
    private static func protocolRole(_ id: String) -> String {
        [Role.administrator.id, Role.publisher.id, Role.user.id].contains(id) ? id : Role.user.id
    }

    func group(_ group: Group) -> JSONObject {
        let principal = request.principal
        let capabilities: JSONValue = group.isUpdating ? ["updateitemcontrol"] : []
        var json = JSONObject([
            "id": .string(group.id), "title": .string(group.title), "isInvitationOnly": false,
            "owner": .string(group.owner), "description": nil, "snippet": nil, "tags": [], "typeKeywords": [],
            "phone": nil, "sortField": "title", "sortOrder": "asc", "isViewOnly": false, "isFav": false,
            "thumbnail": nil, "created": .integer(group.created), "modified": .integer(group.modified),
            "access": .string(group.access),
            "capabilities": capabilities, "protected": false, "autoJoin": false,
            "notificationsEnabled": false, "provider": nil, "providerGroupName": nil, "leavingDisallowed": false,
            "hiddenMembers": false, "membershipAccess": "org", "displaySettings": ["itemTypes": ""],
            "orgId": .string(organisation),
        ])
        for member in group.details.members { json[member.key] = member.value }
        if principal.kind == .person {
            let type =
                principal.isNamed(group.owner)
                ? "owner"
                : principal.managedGroups.contains(group.id)
                    ? "admin" : principal.groups.contains(group.id) ? "member" : "none"
            json["userMembership"] = [
                "username": JSONValue(principal.name), "memberType": .string(type), "applications": 0,
            ]
        }
        return json
    }

    // MARK: Items

    func item(_ item: Item) -> JSONObject {
        let fields = item.fields
        let thumbnail = fields.thumbnail.map { "thumbnail/\($0)" }
        let name = item.name.isEmpty ? nil : item.name
        var json = JSONObject([
            "id": .string(item.id), "owner": .string(item.owner), "orgId": .string(organisation),
            "created": .integer(item.created), "modified": .integer(item.modified), "isOrgItem": true, "guid": nil,
            "name": JSONValue(name), "title": .string(item.title),
            "type": .string(item.type), "typeKeywords": .array(fields.typeKeywords.map(JSONValue.string)),
            "description": JSONValue(fields.description), "tags": .array(fields.tags.map(JSONValue.string)),
            "snippet": JSONValue(fields.snippet),
            "thumbnail": JSONValue(thumbnail), "documentation": nil,
            "extent": [], "categories": [], "spatialReference": nil, "accessInformation": nil, "licenseInfo": nil,
            "culture": "", "properties": nil, "advancedSettings": nil, "url": JSONValue(url(of: item)),
            "proxyFilter": nil, "access": .string(item.sharing.access), "size": .integer(item.size), "subInfo": 0,
            "appCategories": [], "industries": [], "languages": [], "largeThumbnail": nil, "banner": nil,
            "screenshots": [], "listed": false, "numComments": 0, "numRatings": 0, "avgRating": 0,
            "numViews": .integer(item.views), "scoreCompleteness": 0, "groupDesignations": nil,
            "contentOrigin": "self", "protected": .bool(item.isProtected),
        ])
        // The folder is the owner's business.
        if request.principal.isNamed(item.owner) || request.principal.has(.viewItems) {
            json["ownerFolder"] = JSONValue(item.folder.isEmpty ? nil : item.folder)
        }
        for member in fields.others.members { json[member.key] = member.value }
        return json
    }

    private func url(of item: Item) -> String? {
        if item.service != nil {
            guard let service = Self.serviceName(item.name) else { return nil }
            return address(of: service, as: ServiceItemKind(rawValue: item.type) ?? .feature)
        }
        return item.url.isEmpty ? nil : item.url
    }

    private func address(of service: ServiceName, as kind: ServiceItemKind) -> String {
        let address = String(request.address(of: "", service, instance: instance).dropLast())
        return address.dropLast(ServiceItemKind.feature.face.count) + kind.face
    }

    static func serviceName(_ path: String) -> ServiceName? {
        let parts = path.split(separator: "/").map(String.init)
        switch parts.count {
        case 1: return ServiceName(name: parts[0])
        case 2: return ServiceName(folder: parts[0], name: parts[1])
        default: return nil
        }
    }

    // MARK: The organisation

    /// - Parameter locators: those that whoever asks may see.
    func organisationDescription(locators: [ServiceName]) async throws -> JSONObject {
        let host = request.origin.components(separatedBy: "://").last ?? ""
        var json = JSONObject([
            "id": .string(organisation), "name": "Fieldwork", "portalName": "Fieldwork", "isPortal": true,
            "isReadOnly": false, "access": "public", "allSSL": .bool(request.origin.hasPrefix("https:")),
            "portalMode": "singletenant", "portalHostname": .string("\(host)/\(instance)"),
            "supportsHostedServices": true, "supportsOAuth": true, "canSharePublic": true,
            "canSearchPublic": true, "currentVersion": .string(Self.version), "culture": "en", "cultureFormat": "us",
            "region": "WO", "units": "metric", "description": nil, "thumbnail": nil, "urlKey": nil,
            "customBaseUrl": nil, "httpPort": 80, "httpsPort": 443, "ipCntryCode": nil,
            "helperServices": [
                "geocode": .array(locators.map(geocodeHelper)), "asyncClosestFacility": ["url": nil],
            ],
            "defaultBasemap": ["title": "No base map", "baseMapLayers": []],
            "defaultVectorBasemap": ["title": "No base map", "baseMapLayers": []], "useVectorBasemaps": false,
            "basemapGalleryGroupQuery": "title:\"Basemaps\"",
            "vectorBasemapGalleryGroupQuery": "title:\"Vector Basemaps\"",
            "defaultExtent": [
                "xmin": -20_037_508.34, "ymin": -20_037_508.34, "xmax": 20_037_508.34, "ymax": 20_037_508.34,
                "spatialReference": ["wkid": 102_100, "latestWkid": 3857],
            ],
            "featuredGroups": [], "featuredGroupsId": nil, "featuredItemsGroupQuery": "", "rotatorPanels": [],
            "portalProperties": [:], "eueiEnabled": false, "authorizedCrossOriginDomains": [],
            "user": nil, "staticImagesUrl": nil, "created": 0, "modified": 0,
        ])
        if let name = request.principal.name, let person = try await portal.person(named: name) {
            var user = user(person, role: request.principal.role)
            let groups = try await portal.groups(for: request.principal, onlyOf: name)
            user["groups"] = .array(groups.map { .object(group($0)) })
            json["user"] = .object(user)
        } else {
            json["user"] = nil
        }
        return json
    }

    /// A locator as clients of the portal choose it.
    private func geocodeHelper(_ locator: ServiceName) -> JSONValue {
        [
            "url": .string(address(of: locator, as: .geocoding)),
            "name": .string(locator.path), "northLat": nil, "southLat": nil, "eastLon": nil, "westLon": nil,
            "zoomScale": 10_000, "suggest": true, "placefinding": true, "batch": true,
            "singleLineFieldName": .string(GeocodeDocument.singleLine),
        ]
    }

    static let version = "2024.1"
}
