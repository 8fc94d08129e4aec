import FieldworkGeometry
import FieldworkLocator
import FieldworkREST

/// What a locator says of itself.
enum GeocodeDocument {
    static let singleLine = "SingleLine"
    static let minimumMatchScore = 60.0

    static func root(_ locator: Locator) -> JSONValue {
        let information = locator.information
        return [
            "currentVersion": .number(ServerInfo.currentVersion),
            "serviceDescription": .string("Addresses of \(information.name)"),
            "addressFields": .array(addressFields.map { field(($0.0, $0.1, $0.2)) }),
            "singleLineAddressField": field((singleLine, "Single Line Input", 200)),
            "candidateFields": .array(candidateFields), "intersectionCandidateFields": .array(candidateFields),
            "categories": categories, "spatialReference": GeoServicesJSON.json(for: .wgs84),
            "locatorProperties": properties, "capabilities": "Geocode,ReverseGeocode,Suggest",
            "countries": .array(information.countries.map(JSONValue.string)), "extent": extent(information.extent),
        ]
    }

    private static func extent(_ numbers: [Double]) -> JSONValue {
        guard numbers.count == 4 else { return .null }
        return [
            "xmin": .number(numbers[0]), "ymin": .number(numbers[1]), "xmax": .number(numbers[2]),
            "ymax": .number(numbers[3]), "spatialReference": GeoServicesJSON.json(for: .wgs84),
        ]
    }

    private static let addressFields: [(String, String, Int64)] = [
        ("Address", "Address or Place", 100), ("Address2", "Address2", 100), ("Address3", "Address3", 100),
        ("Neighborhood", "Neighborhood", 50), ("City", "City", 50), ("Subregion", "County", 50),
        ("Region", "State", 50),
        ("Postal", "ZIP", 20), ("PostalExt", "ZIP4", 20), ("CountryCode", "Country", 100),
    ]

    private static func field(_ field: (name: String, alias: String, length: Int64)) -> JSONValue {
        [
            "name": .string(field.name), "type": "esriFieldTypeString", "alias": .string(field.alias),
            "required": false,
            "length": .integer(field.length), "localizedNames": .object(JSONObject()),
            "recognizedNames": .object(JSONObject()),
        ]
    }

    /// The names of a candidate's attributes, with their types: those that the answers have.
    private static let candidateFields: [JSONValue] = {
        let sample = LocatorResult.sample
        let shape: JSONValue = [
            "name": "Shape", "type": "esriFieldTypeGeometry", "alias": "Shape", "required": false,
        ]
        let fields = ResultAttributes.ofCandidate(sample, locator: "").map { name, value -> JSONValue in
            switch value {
            case .number:
                return [
                    "name": .string(name), "type": "esriFieldTypeDouble", "alias": .string(name), "required": false,
                ]
            case .text:
                return [
                    "name": .string(name), "type": "esriFieldTypeString", "alias": .string(name), "required": false,
                    "length": 500,
                ]
            }
        }
        return [shape] + fields
    }()

    private static let categories: JSONValue = [
        [
            "name": "Address",
            "categories": [
                ["name": "Subaddress"], ["name": "Point Address"], ["name": "Street Address"], ["name": "Intersection"],
                ["name": "Street Name"],
            ],
        ],
        ["name": "POI"], ["name": "Populated Place"], ["name": "Postal"], ["name": "Coordinates"],
    ]

    /// Clients compare the sizes of batches as numbers.
    private static let properties: JSONValue = [
        "MinimumMatchScore": .number(minimumMatchScore), "MinimumCandidateScore": 10, "SuggestedBatchSize": 150,
        "MaxBatchSize": JSONValue(Limits.addressesPerBatch), "LoadBalancerTimeOut": 60,
        "IntersectionConnectors": "& @ | and", "SideOffset": "20", "SideOffsetUnits": "Feet", "EndOffset": "3",
        "SpellingSensitivity": 80, "MatchIfScoresTie": "True", "WriteXYCoordFields": "TRUE",
        "WriteReferenceIDField": "FALSE",
    ]
}
