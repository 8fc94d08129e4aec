import FieldworkGeometry
public import Foundation

/// A file that belongs to an item, besides its content: a style, a picture.
public struct PortalItemResource: Sendable, Hashable {
    /// The name, with folders before it.
    public let name: String
    /// How many bytes it has.
    public let size: Int
    /// When it was added.
    public let creationDate: Date?
}

extension PortalItem {
    /// How two items belong together, in the portal's words.
    public struct Relationship: RawRepresentable, Hashable, Sendable {
        /// The portal's word.
        public let rawValue: String

        /// A relationship by the portal's word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// From a web map to an area of it that was prepared for offline work.
        public static let mapToArea = Relationship(rawValue: "Map2Area")
        /// From such an area to its packages.
        public static let areaToPackage = Relationship(rawValue: "Area2Package")
        /// From a service to the data that it was published from.
        public static let serviceToData = Relationship(rawValue: "Service2Data")
        /// From a web map to a service that it shows.
        public static let mapToService = Relationship(rawValue: "Map2Service")
    }

    /// Which end of a relationship the item is.
    public enum RelationshipDirection: String, Sendable, Hashable {
        /// The one that it goes out from.
        case forward
        /// The one that it leads to.
        case reverse
    }

    /// The items that belong to this one. Throws `ServiceError`.
    public func relatedItems(
        by relationship: Relationship, direction: RelationshipDirection = .forward
    ) async throws -> [PortalItem] {
        let json = try await portal.client.read(
            try steps("relatedItems"),
            [("relationshipType", relationship.rawValue), ("direction", direction.rawValue)])
        return (json["relatedItems"]?.arrayValue ?? []).compactMap(\.objectValue).compactMap {
            PortalItem($0, portal: portal)
        }
    }

    /// The groups with which the item is shared, as far as the person may know. Throws `ServiceError`.
    public var groups: [PortalGroup] {
        get async throws {
            let json = try await portal.client.read(try steps("groups"))
            return ["admin", "member", "other"].flatMap { json[$0]?.arrayValue ?? [] }.compactMap(\.objectValue)
                .compactMap { PortalGroup($0, portal: portal) }
        }
    }

    /// The files that belong to the item, all of them. Throws `ServiceError`.
    public var resources: [PortalItemResource] {
        get async throws {
            var found: [PortalItemResource] = []
            var start = 1
            for _ in 0..<Limits.portalPages {
                let json = try await portal.client.read(
                    try steps("resources"), [("start", String(start)), ("num", String(Limits.portalPage))])
                found += (json["resources"]?.arrayValue ?? []).compactMap(\.objectValue).compactMap { resource in
                    guard let name = resource["resource"]?.stringValue, !name.isEmpty else { return nil }
                    return PortalItemResource(
                        name: name, size: resource.int("size") ?? 0, creationDate: resource.date("created"))
                }
                guard let next = json.int("nextStart"), next > start else { break }
                start = next
            }
            return found
        }
    }

    /// The bytes of a file that belongs to the item. Throws `ServiceError`.
    public func data(of resource: PortalItemResource) async throws -> Data {
        let names = resource.name.split(separator: "/").map(String.init)
        // A name comes from the portal: it must not lead out of the item.
        guard !names.contains(".."), !names.isEmpty else {
            throw CommonError.invalidArgument(details: "\(resource.name) is no name of a file.")
        }
        return try await portal.client.data(try steps("resources") + names)
    }

    /// Adds a file of this device to the item. Throws `CommonError.fileNotFound`, `ServiceError`.
    /// - Parameters:
    ///   - name: what it is called there; nil for its own name.
    ///   - folder: the folder within the item; nil for none.
    public func addResource(at file: URL, name: String? = nil, folder: String? = nil) async throws {
        guard let size = (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize else {
            throw CommonError.fileNotFound(details: "\(file.lastPathComponent) can't be read.")
        }
        if owner.isEmpty { try await load() }
        let part = MultipartForm.File(
            part: "file", url: file, name: name ?? file.lastPathComponent, contentType: "application/octet-stream",
            size: Int64(size), offset: 0)
        var form: [(name: String, value: String)] = [("fileName", part.name), ("access", "inherit")]
        if let folder { form.append(("resourcesPrefix", folder)) }
        _ = try await portal.client.write(
            ["content", "users", owner, "items"] + (try steps().suffix(1)) + ["addResources"], form, file: part)
    }

    /// Removes a file from the item. Throws `ServiceError`.
    public func remove(_ resource: PortalItemResource) async throws {
        if owner.isEmpty { try await load() }
        _ = try await portal.client.write(
            ["content", "users", owner, "items"] + (try steps().suffix(1)) + ["removeResources"],
            [("resource", resource.name)])
    }
}
