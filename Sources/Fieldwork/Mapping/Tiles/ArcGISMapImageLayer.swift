public import FieldworkGeometry
public import Foundation
import Synchronization

/// A map service that draws images of any place, with its sublayers.
///
/// ```swift
/// let layer = ArcGISMapImageLayer(url: URL(string: "https://maps.example.org/arcgis/rest/services/Parcels/MapServer")!)
/// try await layer.load()
/// layer.mapImageSublayers.first?.isVisible = false
/// ```
///
/// What changes is behind locks.
public final class ArcGISMapImageLayer: Layer, @unchecked Sendable {
    private struct Content: Sendable {
        var described = TiledDescription()
        var sublayers: [ArcGISMapImageSublayer] = []
    }

    /// The service.
    public let url: URL
    private let client: any ServiceClient
    private let content = Mutex(Content())

    /// The images of a map service. Loading throws `ServiceError`.
    public convenience init(url: URL) { self.init(url: url, client: HTTPServiceClient()) }

    init(url: URL, client: any ServiceClient) {
        self.url = url
        self.client = client
        super.init()
    }

    required init(copying original: Layer, _ context: MapCopy) {
        let source = original as? ArcGISMapImageLayer
        url = source?.url ?? URL(filePath: "/")
        client = source?.client ?? HTTPServiceClient()
        super.init(copying: original, context)
    }

    override func loadContent(retries: Bool) async throws {
        let answer = try await client.answer(to: ServiceRequest(url, [("f", "json")]))
        guard let json = try? JSONParser.parse(answer.bytes) else {
            throw ServiceError.unknown(details: "\(url.absoluteString) did not answer in JSON.")
        }
        if let error = json["error"], error.objectValue != nil {
            throw ServiceError.serverFailure(
                details: error["message"]?.stringValue ?? "The service refused.",
                code: error["code"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0)
        }
        let said = shared.withLock { $0.entry?["layers"]?.arrayValue } ?? []
        let sublayers = ArcGISMapImageSublayer.tree(json["layers"]?.arrayValue ?? [], webMap: said)
        let described = TiledDescription(json)
        content.withLock { content in
            content.described = described
            content.sublayers = sublayers
        }
    }

    /// The service's layers, the topmost first; those of groups are within them. After the layer is loaded.
    public var mapImageSublayers: [ArcGISMapImageSublayer] { content.withLock { $0.sublayers } }
    /// The service's layers, the topmost first.
    public override var subLayerContents: [any LayerContent] { mapImageSublayers }
    /// What the layer covers; nil before it is loaded.
    public override var fullExtent: Envelope? { content.withLock { $0.described.extent } }
    /// The reference of what the layer covers.
    public override var spatialReference: SpatialReference? { fullExtent?.spatialReference }
    /// Who is to be named for what the layer shows.
    public override var attribution: String { content.withLock { $0.described.attribution } }
    override var defaultName: String { content.withLock { $0.described.name } }

    /// The picture of an area as the service draws it, in PNG with clear ground: the sublayers that are shown, with their
    /// conditions. Not part of the vendor's API, whose map views ask by themselves.
    /// - Parameters:
    ///   - extent: the area, with a reference.
    ///   - width: pixels across, from 1 to 4,096.
    ///   - height: pixels down, from 1 to 4,096.
    /// - Returns: nil where nothing is shown.
    public func image(of extent: Envelope, width: Int, height: Int) async throws -> Data? {
        let leaves = mapImageSublayers.flatMap(\.shownLeaves)
        guard mapImageSublayers.isEmpty || !leaves.isEmpty else { return nil }
        let side = 1...4_096
        var parameters: [(name: String, value: String)] = [
            ("bbox", [extent.xMin, extent.yMin, extent.xMax, extent.yMax].map { "\($0)" }.joined(separator: ",")),
            ("size", "\(min(max(width, 1), side.upperBound)),\(min(max(height, 1), side.upperBound))"),
            ("format", "png32"), ("transparent", "true"), ("f", "image"),
        ]
        if let reference = extent.spatialReference {
            let json = GeoServicesJSON.json(for: reference).text
            parameters += [("bboxSR", json), ("imageSR", json)]
        }
        if !leaves.isEmpty {
            parameters.append(("layers", "show:" + leaves.map { String($0.id) }.joined(separator: ",")))
        }
        let conditions = leaves.filter { !$0.definitionExpression.isEmpty }
        if !conditions.isEmpty {
            var object = JSONObject()
            for layer in conditions { object[String(layer.id)] = .string(layer.definitionExpression) }
            parameters.append(("layerDefs", JSONValue.object(object).text))
        }
        let answer = try await client.answer(to: ServiceRequest(url.appending(path: "export"), parameters))
        return answer.bytes.isEmpty ? nil : Data(answer.bytes)
    }

    /// The sublayers as a web map writes them; nil where nothing was changed of what the web map said.
    var sublayerEntries: [JSONValue]? {
        let sublayers = content.withLock { $0.sublayers }.flatMap(\.all)
        guard sublayers.contains(where: \.isChanged) else { return nil }
        var entries = shared.withLock { $0.entry?["layers"]?.arrayValue } ?? []
        for sublayer in sublayers where sublayer.isChanged {
            let place = entries.firstIndex { $0["id"]?.integerValue == Int64(sublayer.id) }
            var entry = place.flatMap { entries[$0].objectValue } ?? JSONObject(["id": JSONValue(sublayer.id)])
            sublayer.write(into: &entry)
            if let place { entries[place] = .object(entry) } else { entries.append(.object(entry)) }
        }
        return entries
    }
}

/// A layer of a map service within the image that the service draws.
public final class ArcGISMapImageSublayer: LayerContent {
    private struct State: Sendable {
        var isVisible: Bool
        var definitionExpression: String
        var isChanged = false
    }

    /// The number of the layer in its service.
    public let id: Int
    /// The title.
    public let name: String
    /// The smallest scale at which it is drawn, as a denominator; nil for none.
    public let minScale: Double?
    /// The largest scale at which it is drawn, as a denominator; nil for none.
    public let maxScale: Double?
    /// The layers of a group.
    public let sublayers: [ArcGISMapImageSublayer]
    private let state: Mutex<State>

    private init(_ json: JSONValue, id: Int, webMap: JSONValue?, sublayers: [ArcGISMapImageSublayer]) {
        self.id = id
        self.sublayers = sublayers
        name = webMap?["name"]?.stringValue ?? json["name"]?.stringValue ?? ""
        minScale = json["minScale"]?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
        maxScale = json["maxScale"]?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
        state = Mutex(
            State(
                isVisible: webMap?["visibility"]?.boolValue ?? json["defaultVisibility"]?.boolValue ?? true,
                definitionExpression: webMap?["layerDefinition"]?["definitionExpression"]?.stringValue ?? ""))
    }

    /// Whether it is drawn, as far as the groups that it is in are.
    public var isVisible: Bool {
        get { state.withLock { $0.isVisible } }
        set {
            state.withLock { state in
                if state.isVisible != newValue { state.isChanged = true }
                state.isVisible = newValue
            }
        }
    }

    /// A condition in SQL for the features that are drawn; empty for all.
    public var definitionExpression: String {
        get { state.withLock { $0.definitionExpression } }
        set {
            state.withLock { state in
                if state.definitionExpression != newValue { state.isChanged = true }
                state.definitionExpression = newValue
            }
        }
    }

    /// The layers of a group.
    public var subLayerContents: [any LayerContent] { sublayers }

    var isChanged: Bool { state.withLock { $0.isChanged } }
    var all: [ArcGISMapImageSublayer] { [self] + sublayers.flatMap(\.all) }
    /// What is drawn: layers that are no groups.
    var shownLeaves: [ArcGISMapImageSublayer] {
        guard isVisible else { return [] }
        return sublayers.isEmpty ? [self] : sublayers.flatMap(\.shownLeaves)
    }

    func write(into entry: inout JSONObject) {
        let state = state.withLock { $0 }
        entry["visibility"] = .bool(state.isVisible)
        let known = entry["layerDefinition"]?["definitionExpression"]?.stringValue ?? ""
        guard known != state.definitionExpression else { return }
        var definition = entry["layerDefinition"]?.objectValue ?? JSONObject()
        definition["definitionExpression"] = .string(state.definitionExpression)
        entry["layerDefinition"] = .object(definition)
    }

    /// Layers with those of groups within them.
    static func tree(_ layers: [JSONValue], webMap: [JSONValue]) -> [ArcGISMapImageSublayer] {
        let said = Dictionary(webMap.compactMap { entry in entry["id"]?.integerValue.map { ($0, entry) } }) { $1 }
        let children = Dictionary(grouping: layers) { $0["parentLayerId"]?.integerValue ?? -1 }
        func below(_ parent: Int64, _ depth: Int) -> [ArcGISMapImageSublayer] {
            // Services nest a few levels deep; a circle has no end.
            guard depth < Limits.sublayerDepth else { return [] }
            return (children[parent] ?? []).compactMap { json in
                guard let id = json["id"]?.integerValue, let number = Int(exactly: id), id != parent else { return nil }
                return ArcGISMapImageSublayer(json, id: number, webMap: said[id], sublayers: below(id, depth + 1))
            }
        }
        return below(-1, 0)
    }
}
