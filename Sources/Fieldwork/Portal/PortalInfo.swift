public import FieldworkGeometry
public import Foundation

/// What a portal says of the organisation that it belongs to.
public final class PortalInfo: Sendable {
    /// The id of the organisation; nil where it has none.
    public let organizationID: String?
    /// The name of the organisation.
    public let organizationName: String
    /// What the organisation says of itself; may be HTML.
    public let organizationDescription: String
    /// The name of the portal.
    public let portalName: String
    /// Whether the portal is of one organisation alone.
    public let isSingleTenant: Bool
    /// The language of the portal, such as `en`.
    public let culture: String
    /// Whether members may share with everyone.
    public let canSharePublic: Bool
    /// Whether everything goes over HTTPS alone.
    public let isSSLOnly: Bool
    /// Whether the portal can host services.
    public let supportsHostedServices: Bool
    /// What new maps show at first; nil where the portal says nothing.
    public let defaultExtent: Envelope?
    /// The addresses of services that find places, in the portal's order.
    public let geocodeServiceURLs: [URL]

    init(_ json: JSONObject) {
        organizationID = json["id"]?.stringValue
        organizationName = json.text("name")
        organizationDescription = json.text("description")
        portalName = json["portalName"]?.stringValue ?? json.text("name")
        isSingleTenant = json["portalMode"]?.stringValue == "singletenant"
        culture = json.text("culture")
        canSharePublic = json["canSharePublic"]?.boolValue ?? false
        isSSLOnly = json["allSSL"]?.boolValue ?? false
        supportsHostedServices = json["supportsHostedServices"]?.boolValue ?? false
        defaultExtent = json["defaultExtent"].flatMap { try? GeoServicesJSON.geometry(from: $0) as? Envelope }
        geocodeServiceURLs = (json["helperServices"]?["geocode"]?.arrayValue ?? []).compactMap {
            $0["url"]?.stringValue.flatMap(URL.init(string:))
        }
    }
}
