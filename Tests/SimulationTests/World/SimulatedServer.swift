import FieldworkPostGIS
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import HTTPTypes
import Logging

@testable import FieldworkServer

/// One process of the server: the real router over a real store, without a socket.
final class SimulatedServer: Sendable {
    /// A request on its way.
    struct Order: Sendable {
        var address: String
        var form: String
        var isRead: Bool
        var editor: String
        /// Where a download goes on.
        var offset: Int64?
        /// More of an upload.
        var stretch: [UInt8]?

        /// Whether the service or one of its layers is to say what it is.
        var isAboutDefinition: Bool {
            let path = address.prefix { $0 != "?" }.split(separator: "/")
            let owner = path.last.flatMap { Int($0) } == nil ? path.last : path.dropLast().last
            return isRead && owner == "FeatureServer"
        }
    }

    struct Reply: Sendable {
        var status: Int
        var bytes: [UInt8]
    }

    static let origin = "http://simulation.invalid"
    static let root = "\(origin)/arcgis/rest/services/\(OrchardService.name.name)/FeatureServer"

    let process: SimulatedProcess
    let store: any ReplicaStore & AttachmentStore
    private let router: RequestRouter
    private let routes = RouteTable(instance: "arcgis")
    private let replicas: ReplicaService
    private let uploads: UploadService

    /// - Parameters:
    ///   - database: where the services are; nil: in the folder of the process.
    ///   - basemaps: the folder of those that are served; nil for none.
    init(
        _ process: SimulatedProcess, database: String?, basemaps: BasemapFolder? = nil,
        now: @escaping @Sendable () -> Date, ids: SeededIDs
    ) async throws {
        self.process = process
        store = try await Self.store(of: process, database)
        let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        var uploads = UploadService(keeper: FeatureServer.uploads(of: store))
        uploads.now = now
        uploads.makeID = { "i" + ids.next().uuidString.lowercased().filter { $0 != "-" } }
        self.uploads = uploads
        var replicas = ReplicaService(
            store: store, instance: "arcgis", uploads: uploads, logger: logger,
            // A process that was killed is dead in the moment in which the next one begins.
            jobLease: .zero, tiles: basemaps.map { TileExporter(library: BasemapLibrary(folder: $0)) })
        replicas.now = now
        replicas.makeID = { ids.next() }
        self.replicas = replicas
        var server = FeatureServer(
            store: store,
            configuration: ServerConfiguration(
                definitionLifetime: .zero, dataFolder: basemaps?.url.deletingLastPathComponent()), logger: logger)
        server.now = now
        var attachments = AttachmentService(store: store, uploads: uploads, instance: "arcgis")
        attachments.now = now
        router = server.makeRouter(replicas, attachments, metrics: ServerMetrics())
        await replicas.jobs.resume()
    }

    /// How many connections to its files the server has together.
    @TaskLocal static var connections = FieldworkStore.Limits.connectionsOfFolder

    private static func store(
        of process: SimulatedProcess, _ database: String?
    ) async throws -> any ReplicaStore & AttachmentStore {
        guard let database else {
            return try await GeoPackageStore.open(at: process.folder, connections: connections)
        }
        let connect = try PostgresStore.sessions(database)
        return try await PostgresStore { schema, writes in
            guard !process.isDead, let session = try connect(schema, writes) as? PostgresConnection else {
                throw StoreError(.busy, "The process is dead.")
            }
            return CrashingSession(session, process)
        }
    }

    /// What is wrong with the store, in words.
    func check() async throws -> [String] {
        if let files = store as? GeoPackageStore { return try await files.check() }
        return try await (store as? PostgresStore)?.check() ?? ["The store can't be checked."]
    }

    func answer(_ order: Order) async throws -> Reply {
        let target = try RequestTarget(order.address)
        var parameters = RequestParameters(try FormURLEncoded.fields(target.query.utf8))
        parameters.merge(try FormURLEncoded.fields(order.form.utf8))
        var request = ServiceRequest(
            method: order.isRead ? .get : .post, address: order.address,
            match: routes.match(target), parameters: parameters, accept: nil, origin: Self.origin,
            range: order.offset.flatMap { $0 > 0 ? "bytes=\($0)-" : nil }, editor: order.editor)
        if let stretch = order.stretch {
            if let refusal = try await receive(stretch, of: request) { return refusal }
            request.hasStretch = true
        }
        let (_, answer) = await router.answer(request)
        let bytes = try await answer.body.collected()
        await settle()
        return Reply(status: answer.status.code, bytes: bytes)
    }

    /// Receives more of an upload, as the reader of requests does from a socket.
    private func receive(_ bytes: [UInt8], of request: FieldworkServer.ServiceRequest) async throws -> Reply? {
        guard let match = request.match, match.route.body == .uploadBytes, let id = match.values.text,
            let offset = try request.parameters.integer("offset"),
            let item = try await uploads.keeper.item(id, now: uploads.now()), item.editor == request.editor,
            item.content == nil
        else { return Reply(status: 404, bytes: Array(#"{"error":{"code":404,"message":"No such upload."}}"#.utf8)) }
        do {
            let stretch = try await uploads.keeper.beginStretch(of: item, at: offset)
            try await stretch.write(bytes)
            try await stretch.finish()
            return nil
        } catch let error as FieldworkREST.ServiceError {
            return Reply(
                status: error.code, bytes: Array(#"{"error":{"code":\#(error.code),"message":"Refused."}}"#.utf8))
        }
    }

    /// Waits for the jobs that were begun: in a simulation nothing happens beside the story.
    func settle() async {
        while await !replicas.jobs.isIdle {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func end() async {
        await replicas.jobs.stop()
        try? await store.close()
    }
}

extension SimulatedServer.Order {
    /// What a sync carries, for a reader of the story.
    var summary: String? {
        guard address.hasSuffix("synchronizeReplica"), let fields = try? FormURLEncoded.fields(form.utf8) else {
            return nil
        }
        let values = Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
        var words = ["\(editor) upload \(values["uploadId"]?.prefix(4) ?? "-")"]
        words.append("base \(values["replicaServerGen"] ?? values["syncLayers"] ?? "-")")
        if let edits = values["edits"] { words.append(edits.replacing("\"", with: "")) }
        return words.joined(separator: " ")
    }
}
