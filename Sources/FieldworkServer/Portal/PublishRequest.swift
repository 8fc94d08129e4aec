import FieldworkGeometry
import FieldworkPublishing
import FieldworkREST
import FieldworkStore

/// What `publish` says of the service that is to be made of a file. The protocol's clients send back what `analyze` has told them,
/// with their changes.
struct PublishRequest: Sendable {
    /// Files that are published, by the type of their item.
    enum FileKind: String, Sendable, CaseIterable {
        case csv = "CSV"
        case geoJSON = "GeoJson"
        case geoPackage = "GeoPackage"

        init?(word: String) {
            guard let kind = Self.allCases.first(where: { $0.rawValue.lowercased() == word.lowercased() }) else {
                return nil
            }
            self = kind
        }

        /// The ending of its name.
        var ending: String {
            switch self {
            case .csv: "csv"
            case .geoJSON: "geojson"
            case .geoPackage: "gpkg"
            }
        }

        /// How the protocol's lists of types describe it.
        var typeKeywords: [String] {
            switch self {
            case .csv: ["CSV"]
            case .geoJSON: ["Data", "GeoJson", "CRS", "Feature", "FeatureCollection"]
            case .geoPackage: ["Data", "GeoPackage"]
            }
        }
    }

    var name: ServiceName
    var layerName: String
    var options = SourceOptions()
    var description: String?
    var copyrightText: String?
    var capabilities: Set<Capability>?
    var maxRecordCount: Int?

    init(_ json: JSONObject, kind: FileKind) throws(ServiceError) {
        guard let text = json["name"]?.stringValue, let name = PortalAnswers.serviceName(text), name.folder == nil,
            PortalOperations.isPossible(name)
        else {
            throw .invalidParameter("'publishParameters' has a 'name' that a service can have, without a folder.")
        }
        self.name = name
        let layer = json["layerInfo"] ?? json["layers"]?.arrayValue?.first
        layerName = layer?["name"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } ?? name.name
        description = json["description"]?.stringValue ?? json["serviceDescription"]?.stringValue
        copyrightText = json["copyrightText"]?.stringValue
        let words = json["capabilities"]?.stringValue ?? layer?["capabilities"]?.stringValue
        capabilities = words.map { Set<Capability>(text: $0) }
        if let count = json["maxRecordCount"]?.integerValue, (1...1_000_000).contains(count) {
            maxRecordCount = Int(count)
        }
        if kind == .csv { options = try Self.tableOptions(json) }
    }

    /// How a table is read, of `publishParameters` or of `analyzeParameters`; what is not said is found out.
    static func tableOptions(_ json: JSONObject) throws(ServiceError) -> SourceOptions {
        var options = SourceOptions()
        switch json["locationType"]?.stringValue?.lowercased() {
        case nil, "", "unknown": break
        case "none": options.isTable = true
        case "coordinates":
            let (x, y) = (json["longitudeFieldName"]?.stringValue, json["latitudeFieldName"]?.stringValue)
            if let x, let y, !x.isEmpty, !y.isEmpty { options.coordinates = (x, y) }
        default:
            throw .invalidParameter("'locationType' is coordinates or none: addresses are not looked for here.")
        }
        if let text = json["columnDelimiter"]?.stringValue, !text.isEmpty {
            guard let delimiter = TableFormat.delimiter(named: text) else {
                throw .invalidParameter("'columnDelimiter' is one character.")
            }
            options.settings.delimiter = delimiter
        }
        // The reference is that of the coordinates which are named; else the file says it.
        if options.coordinates != nil, let reference = json["sourceSR"] {
            let number = reference["latestWkid"]?.integerValue ?? reference["wkid"]?.integerValue
            guard let number, let wkid = WKID(Int(number)), let known = SpatialReference(wkid: wkid) else {
                throw .invalidParameter("'sourceSR' has an unknown wkid.")
            }
            options.reference = known
        }
        return options
    }

    /// Gives the new service what the request says of it.
    func apply(to definition: inout ServiceDefinition) {
        if let description { definition.description = description }
        if let copyrightText { definition.copyrightText = copyrightText }
        if let maxRecordCount { definition.maxRecordCount = maxRecordCount }
        guard let capabilities, !capabilities.isEmpty else { return }
        definition.capabilities = capabilities.subtracting([.sync]).union([.query])
        if capabilities.contains(.sync) { definition.allowSync() }
    }
}
