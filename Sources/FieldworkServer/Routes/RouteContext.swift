import FieldworkREST
import FieldworkStore
import Foundation

/// What an operation gets: the request, and what the router has found and checked already.
struct RouteContext: Sendable {
    let request: ServiceRequest
    let values: RouteValues
    let server: RequestRouter
    private let foundService: PublishedService?
    /// The basemap of the address, where no service has its name.
    let basemap: BasemapService?
    private let foundLayer: LayerDefinition?
    private let foundLocator: GeocodeService?

    init(
        request: ServiceRequest, values: RouteValues, server: RequestRouter, service: PublishedService?,
        layer: LayerDefinition?, locator: GeocodeService? = nil, basemap: BasemapService? = nil
    ) {
        self.request = request
        self.values = values
        self.server = server
        foundService = service
        self.basemap = basemap
        foundLayer = layer
        foundLocator = locator
    }

    /// Whether the service allows edits that whoever asks may not make.
    var withholdsEditing: Bool { foundService?.withholdsEditing ?? false }
    /// The service of the address, as who asks may see it.
    var service: PublishedService {
        get throws {
            // A basemap has nothing but its tiles and what draws them.
            if basemap != nil { throw ServiceError.notSupported }
            return try present(foundService)
        }
    }
    /// The layer or table of the address.
    var layer: LayerDefinition { get throws { try present(foundLayer) } }
    /// The locator of the address.
    var geocoding: GeocodeService { get throws { try present(foundLocator) } }
    var objectID: Int64 { get throws { try present(values.objectID) } }
    var generation: Int64 { get throws { try present(values.generation) } }
    var attachmentID: Int64 { get throws { try present(values.attachmentID) } }
    var conflictID: Int64 { get throws { try present(values.conflictID) } }
    var feature: FeatureIdentifier { get throws { try present(values.feature) } }
    var id: UUID { get throws { try present(values.id) } }
    /// The name of a file, of an upload or of a folder.
    var name: String { get throws { try present(values.text) } }

    /// The format of an answer in JSON: a browser gets it laid out for reading where there is no page.
    var jsonFormat: AnswerFormat { get throws { try request.format() == .json ? .json : .prettyJSON } }

    var replicas: ReplicaService { get throws { try supported(server.replicas) } }
    var attachments: AttachmentService { get throws { try supported(server.attachments) } }
    var uploads: UploadService { get throws { try attachments.uploads } }
    var features: FeatureService { server.service }
    var map: MapService {
        MapService(
            features: server.service, tiles: server.tiles, shelf: server.shelf, instance: server.instance,
            logger: server.logger)
    }
    var tiles: TileService { server.tiles }
    var font: String { get throws { try present(values.font) } }
    var width: Int { get throws { try present(values.width) } }
    var height: Int { get throws { try present(values.height) } }
    var directory: ServicesDirectory { server.directory }

    private func supported<Service>(_ service: Service?) throws(ServiceError) -> Service {
        guard let service else { throw .notSupported }
        return service
    }

    /// A row that asks for what its pattern doesn't name is a mistake of ours.
    private func present<Value>(_ value: Value?) throws(ServiceError) -> Value {
        guard let value else { throw .internalFailure }
        return value
    }
}
