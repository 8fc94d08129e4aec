import Fieldwork
import FieldworkTiles
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
        // What a service says is lettered, is: a web map says for itself.
        if !isAuthored { featureLayer.labelsAreEnabled = true }
        let symbology = Symbology(featureLayer.renderer, kind: kind ?? .point)
        let display = table.layerInfo?.displayFieldName ?? ""
        let name =
            [isAuthored ? featureLayer.name : "", table.displayName, table.tableName].first { !$0.isEmpty } ?? ""
        let popup = isAuthored ? featureLayer.popupDefinition : nil
        return MapLayer(
            id: id, name: name, table: table, featureLayer: featureLayer, popup: popup,
            hasPopups: !isAuthored || (popup != nil && featureLayer.popupsAreEnabled && table.popupIsEnabled),
            geometry: kind, symbology: symbology,
            style: style(of: featureLayer, table, symbology, source: "layer-\(id)"),
            kinds: kinds(of: table, symbology: symbology),
            displayField: table.field(named: display)?.name,
            choiceField: choiceField(of: table, symbology: symbology))
    }

    private static func style(
        of layer: FeatureLayer, _ table: ArcGISFeatureTable, _ symbology: Symbology, source: String
    ) -> LayerStyle {
        let type =
            switch table.geometryType {
            case let type? where type == Multipoint.self: "esriGeometryMultipoint"
            case let type? where type == Polyline.self: "esriGeometryPolyline"
            case let type? where type == Polygon.self: "esriGeometryPolygon"
            case let type? where type == Envelope.self: "esriGeometryEnvelope"
            case let type? where type == Point.self: "esriGeometryPoint"
            default: ""
            }
        let looks = LayerStyle.Looks(
            geometryType: type, fields: table.fields.map(\.name), objectIDField: table.objectIDField,
            renderer: symbology.renderer.toJSON(),
            labels: layer.labelsAreEnabled ? layer.labelDefinitions.map { $0.toJSON() } : [], opacity: layer.opacity,
            minScale: layer.minScale ?? 0, maxScale: layer.maxScale ?? 0)
        return LayerStyle(looks, source: source)
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
            let symbol = symbology.swatch(field: field, value: value ?? type.id)
            kinds.append(Kind(key: "t\(index)", name: type.name, source: .type(type), symbol: symbol))
        }
        for (index, template) in table.featureTemplates.enumerated() {
            let field = symbology.fields.first ?? ""
            let symbol =
                symbology.swatch(field: field, value: template.prototypeAttributes[field])
                ?? (symbology.fields.isEmpty ? symbology.legend.first?.swatch : nil)
            kinds.append(Kind(key: "p\(index)", name: template.name, source: .template(template), symbol: symbol))
        }
        if kinds.isEmpty {
            let symbol = symbology.fields.isEmpty ? symbology.legend.first?.swatch : nil
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
