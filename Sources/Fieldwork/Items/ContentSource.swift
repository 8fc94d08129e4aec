import FieldworkGeometry
import Foundation

/// Where a map, a basemap or a table learns what it is when it is loaded.
enum ContentSource: Sendable {
    case item(any Item)
    /// A web map's document, in a file or on a server.
    case document(URL)

    /// What an address of a web map names: an item, else a document.
    init(webMapURL url: URL, environment: ServiceEnvironment) {
        self = PortalItem(url: url, environment: environment).map { .item($0) } ?? .document(url)
    }

    var keptItem: (any Item)? {
        if case .item(let item) = self { return item }
        return nil
    }

    /// The document of a web map. Throws `CommonError.invalidArgument` for an item of another kind,
    /// `CommonError.propertyNotSupported` for an item that is kept elsewhere than on a portal, `CommonError.notFound`,
    /// `CommonError.invalidJSON`, `ServiceError`.
    func webMap(environment: ServiceEnvironment) async throws -> JSONObject {
        switch self {
        case .item(let item):
            let item = try Self.portalItem(item)
            try await item.reread()
            guard item.typeName == "Web Map" else {
                throw CommonError.invalidArgument(
                    details: "The item \(item.title) is a \(item.typeName), not a web map.")
            }
            return try await item.document()
        case .document(let url):
            let document = try await WebMapDocument.read(url, client: environment.client)
            guard let object = try? JSONParser.parse(document.json).objectValue else {
                throw CommonError.invalidJSON(details: "The text is not a web map.")
            }
            return object
        }
    }

    /// The address of the service that an item stands for. Throws like `webMap`.
    static func service(of item: any Item) async throws -> URL {
        let item = try portalItem(item)
        try await item.load()
        guard item.typeName == "Feature Service", let url = item.url else {
            throw CommonError.invalidArgument(
                details: "The item \(item.title) is a \(item.typeName), not a feature service.")
        }
        return url
    }

    private static func portalItem(_ item: any Item) throws -> PortalItem {
        guard let item = item as? PortalItem else {
            throw CommonError.propertyNotSupported(details: "Only items of portals can be read.")
        }
        return item
    }
}
