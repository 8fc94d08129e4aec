import FieldworkGeometry
import FieldworkLocator
import FieldworkREST

/// A search, read from its parameters.
struct GeocodeRequest: Sendable {
    var text: String
    var options: LocatorOptions
    /// The attributes that are wanted; nil for none.
    var fields: Set<String>?
    var reference: SpatialReference

    /// The parts of an address in the order in which they are put together.
    private static let parts = [
        "address", "address2", "address3", "neighborhood", "city", "subregion", "region", "postal", "postalExt",
        "countryCode",
    ]

    init(_ parameters: RequestParameters) throws(ServiceError) {
        if let line = parameters[GeocodeDocument.singleLine] {
            text = line
        } else {
            text = Self.parts.compactMap { parameters[$0] }.filter { !$0.isEmpty }.joined(separator: ", ")
        }
        options = try Self.options(parameters)
        options.magicKey = parameters["magicKey"] ?? ""
        options.maximumCount = try Self.count(parameters, "maxLocations", default: 20, most: Limits.candidates)
        options.matchesOutOfRange = try parameters.bool("matchOutOfRange") ?? true
        options.findsRoutePlaces = try Self.wantsStreet(parameters)
        // A suggestion may be named without its text.
        if text.isEmpty, !options.magicKey.isEmpty { text = options.magicKey }
        fields = try Self.fields(parameters)
        reference = try parameters.spatialReference("outSR") ?? .wgs84
    }

    static func fields(_ parameters: RequestParameters) throws(ServiceError) -> Set<String>? {
        guard let names = try parameters.words("outFields"), !names.isEmpty else { return nil }
        return Set(names.map { $0.lowercased() })
    }

    /// Whether the place on the street is wanted instead of the house itself.
    static func wantsStreet(_ parameters: RequestParameters) throws(ServiceError) -> Bool {
        switch parameters["locationType"]?.lowercased() {
        case nil, "", "rooftop": return false
        case "street": return true
        default: throw .invalidParameter("'locationType' must be rooftop or street.")
        }
    }

    static func count(
        _ parameters: RequestParameters, _ name: String, default usual: Int, most: Int
    ) throws(ServiceError) -> Int {
        guard let count = try parameters.integer(name) else { return usual }
        guard count > 0 else { throw .invalidParameter("'\(name)' must be a positive number.") }
        return min(count, most)
    }

    /// What searches and suggestions have in common.
    static func options(_ parameters: RequestParameters) throws(ServiceError) -> LocatorOptions {
        var options = LocatorOptions()
        options.extent = try extent(parameters, "searchExtent")
        if let point = try parameters.geometry("location", spatialReference: .wgs84) as? Point {
            let place = try degrees(point.x, point.y, point.spatialReference, "location")
            options.location = .init(x: place.x, y: place.y)
        }
        if let categories = try parameters.words("category"), !categories.isEmpty {
            // A category that the locator has nothing of gives nothing.
            options.kinds = Set(categories.flatMap { LocatorOptions.kinds(ofCategory: $0) ?? [] })
        }
        options.country = parameters["sourceCountry"] ?? ""
        return options
    }

    /// A box in degrees of WGS 84; nil where the request has none.
    static func extent(
        _ parameters: RequestParameters, _ name: String
    ) throws(ServiceError) -> LocatorOptions.Extent? {
        guard let extent = try parameters.geometry(name, spatialReference: .wgs84)?.extent else { return nil }
        let low = try degrees(extent.xMin, extent.yMin, extent.spatialReference, name)
        let high = try degrees(extent.xMax, extent.yMax, extent.spatialReference, name)
        return LocatorOptions.Extent(xMin: low.x, yMin: low.y, xMax: high.x, yMax: high.y)
    }

    /// A place in degrees of WGS 84.
    static func degrees(
        _ x: Double, _ y: Double, _ reference: SpatialReference?, _ name: String
    ) throws(ServiceError) -> (x: Double, y: Double) {
        guard let place = GeocodeOutput.projected(x, y, from: reference ?? .wgs84, to: .wgs84) else {
            throw .invalidParameter("'\(name)' can't be transformed into degrees.")
        }
        return place
    }
}

/// Many searches in one request, read.
struct GeocodeBatch: Sendable {
    var ids: [JSONValue] = []
    var questions: [(text: String, options: LocatorOptions)] = []
    var fields: Set<String>?
    var reference: SpatialReference

    init(_ parameters: RequestParameters) throws(ServiceError) {
        var options = try GeocodeRequest.options(parameters)
        options.maximumCount = 2
        options.matchesOutOfRange = try parameters.bool("matchOutOfRange") ?? true
        options.minimumScore = GeocodeDocument.minimumMatchScore
        options.findsRoutePlaces = try GeocodeRequest.wantsStreet(parameters)
        fields = try GeocodeRequest.fields(parameters)
        reference = try parameters.spatialReference("outSR") ?? .wgs84
        guard let records = try parameters.json("addresses")?["records"]?.arrayValue else {
            throw .invalidParameter(
                "'addresses' must be {\"records\":[{\"attributes\":{\"OBJECTID\":1,\"SingleLine\":\"…\"}}]}.")
        }
        guard records.count <= Limits.addressesPerBatch else {
            throw .invalidParameter(
                "'addresses' has \(records.count) records; a request may have \(Limits.addressesPerBatch). Send them in several."
            )
        }
        for record in records {
            guard let attributes = record["attributes"]?.objectValue else {
                throw .invalidParameter("Each record of 'addresses' must have 'attributes'.")
            }
            ids.append(attributes.member(ignoringCase: "OBJECTID") ?? .null)
            questions.append((try Self.text(attributes), options))
        }
    }

    private static func text(_ attributes: JSONObject) throws(ServiceError) -> String {
        func value(_ name: String) -> String {
            switch attributes.member(ignoringCase: name) {
            case .string(let text): text
            case .integer(let number): "\(number)"
            default: ""
            }
        }
        let line = value(GeocodeDocument.singleLine)
        guard line.isEmpty else { return line }
        let parts = [
            "Address", "Address2", "Address3", "Neighborhood", "City", "Subregion", "Region", "Postal", "PostalExt",
            "CountryCode",
        ]
        return parts.map(value).filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

/// A question for the address of a place, read.
struct ReverseRequest: Sendable {
    var x: Double
    var y: Double
    var options = ReverseOptions()
    var fields: Set<String>?
    var reference: SpatialReference
    var tellsInput: Bool

    init(_ parameters: RequestParameters) throws(ServiceError) {
        guard let point = try parameters.geometry("location", spatialReference: .wgs84) as? Point else {
            throw .invalidParameter("'location' must be a point: x,y or JSON.")
        }
        (x, y) = try GeocodeRequest.degrees(point.x, point.y, point.spatialReference, "location")
        if let names = try parameters.words("featureTypes"), !names.isEmpty {
            var kinds: Set<LocatorResult.Kind> = []
            for name in names {
                if let kind = LocatorResult.Kind.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }
                ) {
                    kinds.insert(kind)
                } else if !["parcel", "distancemarker"].contains(name.lowercased()) {
                    throw .invalidParameter("'featureTypes' has the unknown type '\(name.prefix(32))'.")
                }
            }
            options.kinds = kinds
        } else if try parameters.bool("returnIntersection") == true {
            options.kinds = [.intersection, .streetAddress, .pointAddress, .pointOfInterest, .locality, .postal]
        }
        if let distance = try parameters.number("distance") {
            guard distance >= 0 else { throw .invalidParameter("'distance' must be a number of metres.") }
            options.maximumDistance = distance
        }
        fields = try GeocodeRequest.fields(parameters)
        reference = try parameters.spatialReference("outSR") ?? .wgs84
        tellsInput = try parameters.bool("returnInputLocation") ?? false
        options.findsRoutePlaces = try GeocodeRequest.wantsStreet(parameters)
    }
}
