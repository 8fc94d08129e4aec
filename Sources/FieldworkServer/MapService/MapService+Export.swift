import FieldworkArcade
import FieldworkDrawing
import FieldworkGeometry
import FieldworkREST
import FieldworkStore
import FieldworkTiles
import Foundation
import HTTPTypes
import Logging

extension MapService {
    /// `export`: an image of a part of the map.
    func export(_ published: PublishedService, _ request: ServiceRequest) async throws -> Answer {
        let export = try ExportRequest(request, service: published.definition)
        if case .address(let format) = export.output {
            let image = try await self.image(export, of: published.definition.name)
            let name = await shelf.keep(image.bytes, contentType: export.format.contentType)
            let href = "\(request.origin)/\(instance)/rest/directories/output/\(name.uuidString.lowercased())"
            return .json(Self.json(export, href: href, isCut: image.isCut), format: format)
        }
        return try await image(export, of: published, request)
    }

    /// The image itself. A client that has it already is answered before any feature is read.
    func image(
        _ export: ExportRequest, of published: PublishedService, _ request: ServiceRequest
    ) async throws -> Answer {
        let tag = try await tag(export, published, request)
        if let tag, EntityTag.matchesAny(request.ifNoneMatch, tag) { return .unchanged(tag) }
        let image = try await self.image(export, of: published.definition.name)
        var answer = Answer(contentType: export.format.contentType, body: .bytes(image.bytes))
        answer.entityTag = tag
        answer.isCompressible = export.format == .svg
        return answer
    }

    /// An image whose address `export` told.
    func output(_ name: UUID) async throws -> Answer {
        guard let image = await shelf.image(name) else {
            throw ServiceError.notFound("There is no such image; images are kept for \(Limits.imageSeconds) seconds.")
        }
        var answer = Answer(contentType: image.contentType, body: .bytes(image.bytes))
        answer.isCompressible = false
        return answer.tagged()
    }

    private static func json(_ export: ExportRequest, href: String, isCut: Bool) -> JSONValue {
        var object = JSONObject()
        object.append("href", .string(href))
        object.append("width", JSONValue(export.frame.width))
        object.append("height", JSONValue(export.frame.height))
        object.append("extent", GeoServicesJSON.json(for: export.frame.extent))
        object.append("scale", .number(export.frame.scale))
        if isCut { object.append("exceededTransferLimit", true) }
        return .object(object)
    }

    /// The tag of an image for a client that keeps answers; nil where it depends on when it is asked for.
    private func tag(
        _ export: ExportRequest, _ published: PublishedService, _ request: ServiceRequest
    ) async throws -> String? {
        guard request.method != .post, request.keepsAnswers || request.ifNoneMatch != nil,
            !export.layers.contains(where: { $0.layer.isDrawnByTime }), !request.asksForCurrentTime
        else { return nil }
        let generation = try await store.generation(of: published.definition.name)
        let restrictions = export.layers.map { $0.layer.restriction.map { "\($0)" } ?? "" }
        let asked = request.parameters.fields.map { "\($0.name)=\($0.value)" }
        return EntityTag.ofState(
            target: (asked + restrictions).joined(separator: "\n"), generation: generation,
            definitionVersion: published.version)
    }

    // MARK: Drawing

    /// - Returns: also whether a layer has more features than are drawn.
    func image(_ export: ExportRequest, of service: ServiceName) async throws -> (bytes: [UInt8], isCut: Bool) {
        let image = try await Self.image(
            export.frame, export.layers, export.format, isTransparent: export.isTransparent,
            background: export.background, of: service, in: store)
        if !image.cutLayers.isEmpty {
            logger.notice(
                "An image shows only a part of the features",
                metadata: ["service": "\(service.path)", "layers": "\(image.cutLayers)"])
        }
        return (image.bytes, !image.cutLayers.isEmpty)
    }

    static func image(
        _ frame: MapFrame, _ layers: [DrawnLayer], _ format: ImageFormat, isTransparent: Bool,
        background: SwatchColor = .white, isTile: Bool = false, of service: ServiceName, in store: any FeatureStore
    ) async throws -> (bytes: [UInt8], cutLayers: [String]) {
        let memory = MapPainter.memory(frame, format)
        try WorkAllowance.current?.charge(memory)
        defer { WorkAllowance.current?.giveBack(memory) }
        do {
            let painter = try MapPainter(
                frame, format: format, isTransparent: isTransparent, background: background, isTile: isTile)
            for drawn in layers {
                guard let plan = LayerPlan(drawn.layer, in: frame, isTile: isTile) else { continue }
                try WorkAllowance.current?.charge(plan.memory)
                defer { WorkAllowance.current?.giveBack(plan.memory) }
                let query = drawn.query(plan)
                let expressions = plan.expressions.map { expressions in
                    FeatureExpressions(
                        expressions, plan.layer, ArcadeSchema(plan.layer), columns: plan.fields,
                        now: Int64(Date.now.timeIntervalSince1970 * 1_000), scale: frame.scale)
                }
                let encoder = try DrawingEncoder(
                    plan, query: query, expressions: expressions, tolerance: format.isRaster ? 0.5 : 0.1)
                let address = LayerAddress(service: service, layerID: drawn.sourceID)
                painter.begin(plan)
                for try await piece in try await store.encodedFeatures(query, in: address, encoder: encoder) {
                    try painter.paint(piece)
                }
                try painter.endLayer()
            }
            return (try painter.finished(), painter.cutLayers)
        } catch let error as DrawingError {
            throw ServiceError(code: 500, message: "The image could not be drawn.", details: [error.description])
        }
    }

    // MARK: Tiles

    /// One tile of the grid of web maps. A client that has it already is answered before any feature is read.
    func tile(_ address: TileAddress, of published: PublishedService, _ request: ServiceRequest) async throws -> Answer
    {
        let service = published.definition
        let frame = try Self.frame(address)
        let layers = try DrawnLayer.read(RequestParameters(), of: service, scale: frame.scale)
        // Read before the rows: an edit in between makes the tile newer than its tag, never older.
        let generation = try await tiles.generations.generation(of: address, in: service)
        var hash = FNV1a()
        for byte in layers.map({ "\($0.layer.id)\($0.layer.restriction.map { "\($0)" } ?? "")" }).joined().utf8 {
            hash.combine(byte)
        }
        let scope = "\(String(published.version, radix: 36))-\(String(hash.value, radix: 36))"
        let tag = "\"\(generation)-\(scope)-image\""
        if EntityTag.matchesAny(request.ifNoneMatch, tag) { return .unchanged(tag) }
        let draw: @Sendable () async throws -> [UInt8] = { [store] in
            try await Self.image(
                frame, layers, .png, isTransparent: true, isTile: true, of: service.name, in: store
            ).bytes
        }
        var answer = Answer(contentType: "image/png", body: .bytes([]))
        answer.isCompressible = false
        if layers.contains(where: { $0.layer.isDrawnByTime }) {
            answer.body = .bytes(try await draw())
            return answer
        }
        let name = "\(address.level)/\(address.row)/\(address.column)"
        let key = TileKeeper.Key(scope: "\(service.name.path)/\(tag)", name: name)
        answer.body = .bytes(try await tiles.keeper.bytes(key, make: draw))
        answer.entityTag = tag
        return answer
    }

    private static func frame(_ address: TileAddress) throws(ServiceError) -> MapFrame {
        let box = address.box
        let extent = Envelope(
            xMin: box.xMin, yMin: box.yMin, xMax: box.xMax, yMax: box.yMax, spatialReference: .webMercator)
        do throws(DrawingError) {
            return try MapFrame(exactly: extent, width: 256, height: 256, dpi: 96)
        } catch {
            throw .internalFailure
        }
    }
}
