import FieldworkGeometry
import Foundation

/// What of a layer's entry in a web map the SDK reads and writes. All else in the entry is kept.
struct LayerEntry: Sendable, Hashable {
    var title: String?
    var isVisible = true
    var opacity = 1.0
    /// nil for what the service says; 0 for no limit.
    var minScale: Double?
    var maxScale: Double?
    var definitionExpression = ""
    /// nil for the service's.
    var renderer: JSONValue?
    var showsLabels = false
    /// nil for the service's.
    var labels: [JSONValue]?
    var popup: JSONValue?
    var disablesPopup = false
    var form: JSONValue?
    /// nil for what the service says.
    var scalesSymbols: Bool?
    /// After how many minutes features are asked for anew; nil for never.
    var refreshMinutes: Double?

    init() {}

    /// Scales, conditions and looks of a feature layer are in its definition; those of other kinds beside its address.
    init(_ entry: JSONObject) {
        let definition = entry["layerDefinition"]
        title = entry["title"]?.stringValue
        isVisible = entry["visibility"]?.boolValue ?? true
        opacity = min(max(0, entry["opacity"]?.doubleValue ?? 1), 1)
        minScale = (definition?["minScale"] ?? entry["minScale"])?.doubleValue
        maxScale = (definition?["maxScale"] ?? entry["maxScale"])?.doubleValue
        definitionExpression = definition?["definitionExpression"]?.stringValue ?? ""
        renderer = definition?["drawingInfo"]?["renderer"].flatMap { $0.isNull ? nil : $0 }
        showsLabels = entry["showLabels"]?.boolValue ?? false
        labels = definition?["drawingInfo"]?["labelingInfo"]?.arrayValue
        popup = entry["popupInfo"].flatMap { $0.objectValue == nil ? nil : $0 }
        disablesPopup = entry["disablePopup"]?.boolValue ?? false
        form = entry["formInfo"].flatMap { $0.objectValue == nil ? nil : $0 }
        scalesSymbols = definition?["drawingInfo"]?["scaleSymbols"]?.boolValue
        refreshMinutes = entry["refreshInterval"]?.doubleValue.flatMap { $0 > 0 ? $0 : nil }
    }

    /// An entry in which these values stand. Members that have them already are not touched.
    func written(into entry: JSONObject, isFeatureLayer: Bool) -> JSONObject {
        let known = LayerEntry(entry)
        var entry = entry
        if title != known.title { entry["title"] = title.map(JSONValue.string) }
        if isVisible != known.isVisible { entry["visibility"] = .bool(isVisible) }
        if opacity != known.opacity { entry["opacity"] = .number(opacity) }
        if showsLabels != known.showsLabels { entry["showLabels"] = .bool(showsLabels) }
        if popup != known.popup { entry["popupInfo"] = popup }
        if disablesPopup != known.disablesPopup { entry["disablePopup"] = .bool(disablesPopup) }
        if form != known.form { entry["formInfo"] = form }
        if refreshMinutes != known.refreshMinutes { entry["refreshInterval"] = .number(refreshMinutes ?? 0) }
        func setDefinition(_ key: String, _ value: JSONValue?) {
            guard isFeatureLayer else {
                entry[key] = value
                return
            }
            var definition = entry["layerDefinition"]?.objectValue ?? JSONObject()
            definition[key] = value
            entry["layerDefinition"] = .object(definition)
        }
        func setDrawing(_ key: String, _ value: JSONValue?) {
            var drawing = entry["layerDefinition"]?["drawingInfo"]?.objectValue ?? JSONObject()
            drawing[key] = value
            setDefinition("drawingInfo", .object(drawing))
        }
        if minScale != known.minScale { setDefinition("minScale", minScale.map(JSONValue.number)) }
        if maxScale != known.maxScale { setDefinition("maxScale", maxScale.map(JSONValue.number)) }
        if definitionExpression != known.definitionExpression {
            setDefinition("definitionExpression", .string(definitionExpression))
        }
        if renderer != known.renderer { setDrawing("renderer", renderer) }
        if scalesSymbols != known.scalesSymbols { setDrawing("scaleSymbols", scalesSymbols.map(JSONValue.bool)) }
        if labels != known.labels { setDrawing("labelingInfo", labels.map(JSONValue.array)) }
        return entry
    }

    /// Whether the map allows edits as far as the service does. A map may only narrow what a service allows.
    static func allowsEditing(_ entry: JSONObject) -> Bool {
        let text = (entry["layerDefinition"]?["capabilities"] ?? entry["capabilities"])?.stringValue
        guard let text else { return true }
        let names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        return names.contains { ["editing", "create", "update", "delete"].contains($0) }
    }
}
