import FieldworkREST

/// What a path below `rest/admin/services/<name>/FeatureServer` names.
enum AdministrationResource: Sendable, Hashable {
    case service
    case layer(Int)
    case edit(DefinitionEdit.Operation, layerID: Int?)
    case truncate(layerID: Int)
    case refresh
    case unknown

    /// - Parameter segments: what follows `FeatureServer`.
    init(_ segments: ArraySlice<String>) {
        var rest = segments
        var layerID: Int?
        if let first = rest.first, let id = Int(first), id >= 0 {
            layerID = id
            rest = rest.dropFirst()
        }
        guard let name = rest.first else {
            self = layerID.map(AdministrationResource.layer) ?? .service
            return
        }
        guard rest.count == 1 else {
            self = .unknown
            return
        }
        if let operation = DefinitionEdit.Operation.allCases.first(where: { $0.rawValue.equalsIgnoringCase(name) }) {
            self = .edit(operation, layerID: layerID)
        } else if name.equalsIgnoringCase("refresh") {
            self = .refresh
        } else if name.equalsIgnoringCase("truncate"), let layerID {
            self = .truncate(layerID: layerID)
        } else {
            self = .unknown
        }
    }
}
