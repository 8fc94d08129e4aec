import FieldworkGeometry
import FieldworkREST
import Foundation

/// A locator that is a service.
struct ServiceLocatorSource: LocatorSource {
    let url: URL
    let client: any ServiceClient

    private func ask(
        _ operation: String?, _ parameters: [(name: String, value: String)]
    ) async throws -> JSONValue {
        let address = operation.map { url.appending(path: $0) } ?? url
        let answer = try await client.answer(to: ServiceRequest(address, parameters + [("f", "json")]))
        do {
            return try JSONParser.parse(answer.bytes)
        } catch {
            throw ServiceError.unknown(details: "The locator at \(Redaction.address(url)) does not answer in JSON.")
        }
    }

    func load() async throws -> LocatorInfo {
        let root = try await ask(nil, [])
        guard let fields = root["candidateFields"]?.arrayValue else {
            throw ServiceError.unknown(details: "\(Redaction.address(url)) is no locator.")
        }
        let abilities = root["capabilities"]?.stringValue ?? ""
        return LocatorInfo(
            name: url.deletingLastPathComponent().lastPathComponent,
            description: root["serviceDescription"]?.stringValue ?? "",
            spatialReference: root["spatialReference"].flatMap { try? GeoServicesJSON.spatialReference(from: $0) },
            resultAttributes: fields.compactMap(Self.attribute),
            searchAttributes: (root["addressFields"]?.arrayValue ?? []).compactMap(Self.attribute),
            supportsSuggestions: abilities.contains("Suggest"), supportsPOI: true, supportsAddresses: true,
            supportsIntersections: !(root["intersectionCandidateFields"]?.arrayValue ?? []).isEmpty,
            fullExtent: root["extent"].flatMap { try? GeoServicesJSON.geometry(from: $0) as? Envelope })
    }

    private static func attribute(_ json: JSONValue) -> LocatorAttribute? {
        guard let name = json["name"]?.stringValue else { return nil }
        let type: LocatorAttribute.Kind =
            switch json["type"]?.stringValue {
            case "esriFieldTypeString": .text
            case "esriFieldTypeDouble", "esriFieldTypeSingle", "esriFieldTypeInteger", "esriFieldTypeSmallInteger":
                .double
            case "esriFieldTypeGeometry": .geometry
            default: .unknown
            }
        return LocatorAttribute(
            name: name, displayName: json["alias"]?.stringValue ?? name, type: type,
            isRequired: json["required"] == .bool(true))
    }

    // MARK: Questions

    func geocode(
        _ text: String, magicKey: String, _ values: GeocodeParameters.Values
    ) async throws -> [GeocodeResult] {
        var parameters: [(name: String, value: String)] = [("SingleLine", text)]
        if !magicKey.isEmpty { parameters.append(("magicKey", magicKey)) }
        if values.maxResults > 0 { parameters.append(("maxLocations", "\(values.maxResults)")) }
        let names = values.resultAttributeNames
        parameters.append(("outFields", names.isEmpty ? "*" : names.joined(separator: ",")))
        if values.isForStorage { parameters.append(("forStorage", "true")) }
        if !values.outputLanguageCode.isEmpty { parameters.append(("langCode", values.outputLanguageCode)) }
        if !values.countryCode.isEmpty { parameters.append(("sourceCountry", values.countryCode)) }
        parameters += Self.parameters(
            values.searchArea, values.preferredSearchLocation, values.categories, values.outputSpatialReference)
        let answer = try await ask("findAddressCandidates", parameters)
        let reference = Self.reference(answer) ?? values.outputSpatialReference
        let results = (answer["candidates"]?.arrayValue ?? []).map { Self.result($0, reference) }
        return results.filter { $0.score >= values.minScore }
    }

    func suggest(_ text: String, _ values: SuggestParameters.Values) async throws -> [SuggestResult] {
        var parameters: [(name: String, value: String)] = [
            ("text", text), ("maxSuggestions", "\(max(1, values.maxResults))"),
        ]
        if !values.countryCode.isEmpty { parameters.append(("sourceCountry", values.countryCode)) }
        parameters += Self.parameters(values.searchArea, values.preferredSearchLocation, values.categories, nil)
        let answer = try await ask("suggest", parameters)
        return (answer["suggestions"]?.arrayValue ?? []).compactMap { suggestion in
            guard let label = suggestion["text"]?.stringValue else { return nil }
            return SuggestResult(
                label: label, isCollection: suggestion["isCollection"] == .bool(true),
                magicKey: suggestion["magicKey"]?.stringValue ?? "")
        }
    }

    func reverseGeocode(
        _ location: Point, _ values: ReverseGeocodeParameters.Values
    ) async throws -> [GeocodeResult] {
        var parameters: [(name: String, value: String)] = [("location", Self.text(location))]
        if values.maxDistance > 0 { parameters.append(("distance", "\(values.maxDistance)")) }
        if values.isForStorage { parameters.append(("forStorage", "true")) }
        if !values.featureTypes.isEmpty {
            parameters.append(("featureTypes", values.featureTypes.joined(separator: ",")))
        }
        let names = values.resultAttributeNames
        if !names.isEmpty { parameters.append(("outFields", names.joined(separator: ","))) }
        parameters += Self.parameters(nil, nil, [], values.outputSpatialReference)
        let answer: JSONValue
        do {
            answer = try await ask("reverseGeocode", parameters)
        } catch let error as ServiceError where error.code == 400 && error.details.contains("Unable to find address") {
            // The protocol calls it an error that nothing is near.
            return []
        }
        guard let address = answer["address"], address.objectValue != nil else { return [] }
        let point = answer["location"].flatMap { try? GeoServicesJSON.geometry(from: $0) as? Point }
        let attributes = Self.attributes(address)
        let label = attributes["Match_addr"] as? String ?? attributes["LongLabel"] as? String ?? ""
        return [
            GeocodeResult(
                attributes: attributes, displayLocation: point, inputLocation: location, routeLocation: point,
                extent: nil, label: label, score: 100)
        ]
    }

    // MARK: Values

    private static func parameters(
        _ area: Geometry?, _ location: Point?, _ categories: [String], _ reference: SpatialReference?
    ) -> [(name: String, value: String)] {
        var parameters: [(name: String, value: String)] = []
        if let extent = area?.extent, !extent.isEmpty { parameters.append(("searchExtent", text(extent))) }
        if let location { parameters.append(("location", text(location))) }
        if !categories.isEmpty { parameters.append(("category", categories.joined(separator: ","))) }
        if let reference { parameters.append(("outSR", GeoServicesJSON.json(for: reference).text)) }
        return parameters
    }

    private static func text(_ geometry: Geometry) -> String { GeoServicesJSON.json(for: geometry).text }

    private static func reference(_ answer: JSONValue) -> SpatialReference? {
        answer["spatialReference"].flatMap { try? GeoServicesJSON.spatialReference(from: $0) }
    }

    private static func attributes(_ json: JSONValue?) -> [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        for member in json?.objectValue?.members ?? [] {
            switch member.value {
            case .string(let text): attributes[member.key] = text
            case .integer(let number): attributes[member.key] = Double(number)
            case .number(let number): attributes[member.key] = number
            default: break
            }
        }
        return attributes
    }

    private static func result(_ json: JSONValue, _ reference: SpatialReference?) -> GeocodeResult {
        func point(_ x: JSONValue?, _ y: JSONValue?) -> Point? {
            guard let x = x?.doubleValue, let y = y?.doubleValue else { return nil }
            return Point(x: x, y: y, spatialReference: reference)
        }
        let place = point(json["location"]?["x"], json["location"]?["y"])
        var extent: Envelope?
        if let box = json["extent"], let xMin = box["xmin"]?.doubleValue, let yMin = box["ymin"]?.doubleValue,
            let xMax = box["xmax"]?.doubleValue, let yMax = box["ymax"]?.doubleValue
        {
            extent = Envelope(xMin: xMin, yMin: yMin, xMax: xMax, yMax: yMax, spatialReference: reference)
        }
        return GeocodeResult(
            attributes: attributes(json["attributes"]), displayLocation: place, routeLocation: place, extent: extent,
            label: json["address"]?.stringValue ?? "", score: json["score"]?.doubleValue ?? 0)
    }
}
