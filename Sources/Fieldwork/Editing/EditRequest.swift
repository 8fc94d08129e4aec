import FieldworkGeometry
import FieldworkREST
import Foundation

/// Edits that go to the service in one request, and the reading of its answer.
struct EditRequest {
    private struct LayerPart {
        var layer: LayerDefinition
        var adds: [LocalEdit] = []
        var updates: [LocalEdit] = []
        var deletes: [LocalEdit] = []
    }

    let usesGlobalIDs: Bool
    /// Whether curves are sent as they are. A service that stores none gets the vertices that they are densified to.
    private let keepsCurves: Bool
    private var parts: [LayerPart] = []

    init(
        _ edits: [LocalEdit], service: ServiceDefinition, usesGlobalIDs: Bool,
        curveMode: ServiceCurveGeometryMode = ArcGISEnvironment.serviceCurveGeometryMode
    ) {
        self.usesGlobalIDs = usesGlobalIDs
        keepsCurves = curveMode == .trueCurveClient && ArcGISFeatureServiceInfo.takesCurves(service)
        for layer in service.layers {
            let own = edits.filter { $0.key.layerID == layer.id }
            if own.isEmpty { continue }
            parts.append(
                LayerPart(
                    layer: layer, adds: own.filter { $0.operation == .add },
                    updates: own.filter { $0.operation == .update }, deletes: own.filter { $0.operation == .delete }))
        }
    }

    // MARK: Writing

    var json: JSONValue {
        .array(
            parts.map { part in
                [
                    "id": JSONValue(part.layer.id), "adds": .array(part.adds.map { feature($0, part.layer) }),
                    "updates": .array(part.updates.map { feature($0, part.layer) }),
                    "deletes": .array(part.deletes.map(identifier)),
                ]
            })
    }

    private func feature(_ edit: LocalEdit, _ layer: LayerDefinition) -> JSONValue {
        var attributes = JSONObject()
        guard let current = edit.current else { return .null }
        if usesGlobalIDs, let name = layer.globalIDField, let id = edit.globalID {
            attributes.append(name, .string(GUID.normalForm(id)))
        } else if edit.operation == .update {
            attributes.append(layer.objectIDField, .integer(edit.key.objectID))
        }
        for change in LocalEdit.changes(from: edit.base, to: current, layer: layer) {
            attributes.append(change.name, change.value.json)
        }
        var feature = JSONObject(["attributes": .object(attributes)])
        if !layer.isTable, edit.operation == .add ? current.geometry != nil : current.geometry != edit.base?.geometry {
            feature.append("geometry", current.geometry.map { GeoServicesJSON.json(for: sent($0)) } ?? .null)
        }
        return .object(feature)
    }

    private func sent(_ geometry: Geometry) -> Geometry {
        keepsCurves ? geometry : (geometry as? Multipart)?.densified ?? geometry
    }

    private func identifier(_ edit: LocalEdit) -> JSONValue {
        if usesGlobalIDs, let id = edit.globalID { return .string(GUID.normalForm(id)) }
        return .integer(edit.key.objectID)
    }

    /// Says to the service that the client knows curves, when curves are sent.
    var parameters: [(name: String, value: String)] { keepsCurves ? [("trueCurveClient", "true")] : [] }

    // MARK: Reading

    struct Outcome: Sendable {
        var edit: LocalEdit
        var objectID: Int64?
        var error: EditError?
    }

    /// What became of each edit. Results come in the order of the request. An edit without a result counts as not
    /// answered: its outcome is looked up before it is sent again.
    func outcomes(_ answer: [JSONValue]) -> [Outcome] {
        parts.flatMap { part -> [Outcome] in
            guard let own = answer.first(where: { $0["id"]?.integerValue == Int64(part.layer.id) }) else { return [] }
            return Self.outcomes(part.adds, own["addResults"]) + Self.outcomes(part.updates, own["updateResults"])
                + Self.outcomes(part.deletes, own["deleteResults"])
        }
    }

    private static func outcomes(_ edits: [LocalEdit], _ results: JSONValue?) -> [Outcome] {
        zip(edits, results?.arrayValue ?? []).map { edit, result in
            let objectID = result["objectId"]?.integerValue.flatMap { $0 >= 0 ? $0 : nil }
            if result["success"]?.boolValue == true { return Outcome(edit: edit, objectID: objectID, error: nil) }
            let error = result["error"]
            return Outcome(
                edit: edit, objectID: objectID,
                error: EditError(
                    code: error?["code"]?.integerValue.flatMap { Int(exactly: $0) } ?? 1000,
                    description: error?["description"]?.stringValue ?? "The service refused the edit."))
        }
    }
}
