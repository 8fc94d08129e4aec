import Fieldwork
import Foundation

extension MapLayer {
    /// Loads a layer or table; nil for one that can't be shown.
    /// - Parameters:
    ///   - id: its number in the map.
    ///   - featureLayer: the layer of a web map that shows the table; nil for the table of a service or of a web map.
    ///   - isAuthored: whether a web map says what is shown: then only what has a pop-up can be tapped.
    static func load(
        _ table: ArcGISFeatureTable, id: Int, featureLayer: FeatureLayer? = nil, isAuthored: Bool
    ) async throws -> MapLayer? {
        let featureLayer = featureLayer ?? FeatureLayer(featureTable: table)
        try await featureLayer.load()
        let kind = geometryKind(table.geometryType)
        if table.hasGeometry, kind == nil { return nil }
        // What the author left out isn't there for anyone who works with the map: lists, relations, counts.
        if !featureLayer.definitionExpression.isEmpty {
            table.definitionExpression = featureLayer.definitionExpression
        }
        let symbology = Symbology(rendererJSON: featureLayer.renderer?.toJSON(), kind: kind ?? .point)
        let display = table.layerInfo?.displayFieldName ?? ""
        let name =
            [isAuthored ? featureLayer.name : "", table.displayName, table.tableName].first { !$0.isEmpty } ?? ""
        let popup = isAuthored ? featureLayer.popupDefinition : nil
        return MapLayer(
            id: id, name: name, table: table, featureLayer: featureLayer, popup: popup,
            hasPopups: !isAuthored || (popup != nil && featureLayer.popupsAreEnabled && table.popupIsEnabled),
            geometry: kind, symbology: symbology,
            kinds: kinds(of: table, symbology: symbology),
            displayField: table.field(named: display)?.name,
            choiceField: choiceField(of: table, symbology: symbology),
            minZoom: zoom(scale: featureLayer.minScale), maxZoom: zoom(scale: featureLayer.maxScale))
    }

    private static func geometryKind(_ type: Geometry.Type?) -> GeometryKind? {
        guard let type else { return nil }
        if type == Point.self || type == Multipoint.self { return .point }
        if type == Polyline.self { return .line }
        if type == Polygon.self || type == Envelope.self { return .polygon }
        return nil
    }

    private static func kinds(of table: ArcGISFeatureTable, symbology: Symbology) -> [Kind] {
        var kinds: [Kind] = []
        for (index, type) in table.featureTypes.enumerated() {
            let value = type.templates.first.flatMap { template in
                symbology.fields.first.flatMap { template.prototypeAttributes[$0] }
            }
            let field = symbology.fields.first ?? ""
            let symbol = symbology.classOf(field: field, value: value ?? type.id)
            kinds.append(Kind(key: "t\(index)", name: type.name, source: .type(type), symbol: symbol))
        }
        for (index, template) in table.featureTemplates.enumerated() {
            let field = symbology.fields.first ?? ""
            let symbol =
                symbology.classOf(field: field, value: template.prototypeAttributes[field])
                ?? (symbology.fields.isEmpty ? symbology.classes.first : nil)
            kinds.append(Kind(key: "p\(index)", name: template.name, source: .template(template), symbol: symbol))
        }
        if kinds.isEmpty {
            let symbol = symbology.fields.isEmpty ? symbology.classes.first : nil
            kinds = [Kind(key: "n", name: singular(table.displayName), source: .plain, symbol: symbol)]
        }
        return kinds
    }

    /// The renderer's field where it has a list of values, else the first editable field with one.
    private static func choiceField(of table: ArcGISFeatureTable, symbology: Symbology) -> String? {
        func hasChoices(_ field: Field?) -> Bool {
            guard let field, field.isEditable else { return false }
            if field.domain is CodedValueDomain { return true }
            return !table.typeIDField.isEmpty && field.name.lowercased() == table.typeIDField.lowercased()
        }
        let candidates = symbology.fields.map { table.field(named: $0) } + [table.field(named: table.typeIDField)]
        if let field = candidates.first(where: hasChoices) { return field?.name }
        return table.fields.first { hasChoices($0) }?.name
    }

    static func zoom(scale: Double?) -> Double? {
        guard let scale, scale > 0 else { return nil }
        return (log2(295_828_763.7957775 / scale) * 1e6).rounded() / 1e6
    }
}
