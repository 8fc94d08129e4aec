package import FieldworkGeometry
package import Foundation

/// The parameters of a request, merged from its address and its body. Names match without regard to case; an empty
/// value is an absent one (rest-api §0, rules 2 to 5).
package struct RequestParameters: Sendable, Hashable {
    private var values: [String: String] = [:]

    package init() {}

    package init(_ fields: [(name: String, value: String)]) {
        for (name, value) in fields { set(name, value) }
    }

    /// Sets a parameter; a later value replaces an earlier one, so that a body wins over the address.
    package mutating func set(_ name: String, _ value: String) {
        values[name.lowercased()] = value
    }

    package mutating func merge(_ fields: [(name: String, value: String)]) {
        for (name, value) in fields { set(name, value) }
    }

    /// The text of a parameter; nil when absent or empty.
    package subscript(name: String) -> String? {
        guard let value = values[name.lowercased()], !value.isEmpty else { return nil }
        return value
    }

    /// All parameters, for one who reads them later.
    package var fields: [(name: String, value: String)] {
        values.keys.sorted().map { ($0, values[$0] ?? "") }
    }

    /// Whether a parameter was sent, even empty.
    package func names(_ name: String) -> Bool { values[name.lowercased()] != nil }

    // MARK: Typed values

    package func bool(_ name: String) throws(ServiceError) -> Bool? {
        guard let text = trimmed(name) else { return nil }
        switch text.lowercased() {
        case "true", "1", "yes": return true
        case "false", "0", "no": return false
        default: throw .invalidParameter("'\(name)' must be true or false.")
        }
    }

    package func integer(_ name: String) throws(ServiceError) -> Int? {
        guard let text = trimmed(name) else { return nil }
        guard let value = Int(text) else { throw .invalidParameter("'\(name)' must be an integer.") }
        return value
    }

    package func number(_ name: String) throws(ServiceError) -> Double? {
        guard let text = trimmed(name) else { return nil }
        guard let value = Double(text), value.isFinite else { throw .invalidParameter("'\(name)' must be a number.") }
        return value
    }

    package func json(_ name: String) throws(ServiceError) -> JSONValue? {
        guard let text = self[name] else { return nil }
        do {
            return try JSONParser.parse(text)
        } catch {
            throw .invalidParameter("'\(name)' is not valid JSON (at byte \(error.offset)).")
        }
    }

    /// Parameters by which a query chooses fewer features. An edit that passed them over would change more than was meant.
    package static let narrowing = [
        "time", "historicMoment", "fullText", "uniqueIds", "having", "topFilter", "resultOffset", "resultRecordCount",
        "definitionExpression",
    ]

    /// Throws for the first of the parameters that is there and says something.
    package func refuse(_ names: [String], in operation: String) throws(ServiceError) {
        for name in names where self[name].map({ !["null", "[]", "{}"].contains($0) }) == true {
            throw .invalidParameter("'\(name)' is not supported by '\(operation)'.")
        }
    }

    private func trimmed(_ name: String) -> String? {
        guard let text = self[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
        return text
    }
}

// MARK: - Lists and geometries

extension RequestParameters {
    /// Object ids as clients spell them: `1,2,3`, `1, 2, 3`, `[1,2,3]`.
    package func objectIDs(_ name: String) throws(ServiceError) -> [Int64]? {
        guard let words = try words(name) else { return nil }
        var ids: [Int64] = []
        ids.reserveCapacity(words.count)
        for word in words {
            guard let id = Int64(word) else {
                throw .invalidParameter("'\(name)' has '\(word.prefix(40))', which is no object id.")
            }
            ids.append(id)
        }
        return ids
    }

    /// Global ids as clients spell them: `{…},{…}`, `["{…}"]`, with or without braces.
    package func globalIDs(_ name: String) throws(ServiceError) -> [UUID]? {
        guard let words = try words(name) else { return nil }
        var ids: [UUID] = []
        for word in words {
            guard let id = GUID.parse(word) else {
                throw .invalidParameter("'\(name)' has '\(word.prefix(40))', which is no global id.")
            }
            ids.append(id)
        }
        return ids
    }

    /// The words of a list, as a JSON array or separated by commas; empty ones are left out.
    package func words(_ name: String) throws(ServiceError) -> [String]? {
        guard let text = self[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
        var words: [String] = []
        if text.hasPrefix("[") {
            guard let values = try json(name)?.arrayValue else { throw .invalidParameter("'\(name)' is not a list.") }
            for value in values {
                switch value {
                case .string(let word): words.append(word)
                case .integer(let number): words.append(String(number))
                default: throw .invalidParameter("'\(name)' has an element that is neither a number nor a text.")
                }
            }
        } else {
            words = text.utf8.split(separator: 0x2C).map {
                Substring($0).trimmingCharacters(in: .whitespacesAndNewlines)
            }
            words.removeAll(where: \.isEmpty)
        }
        guard words.count <= Limits.identifierCount else { throw .invalidParameter("'\(name)' is too long a list.") }
        return words
    }

    /// A spatial reference: a wkid, or the JSON of one.
    package func spatialReference(_ name: String) throws(ServiceError) -> SpatialReference? {
        guard let text = self[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
        let value = text.hasPrefix("{") ? try json(name) ?? .null : .string(text)
        do {
            return try GeoServicesJSON.spatialReference(from: value)
        } catch {
            throw .invalidParameter("'\(name)': \(error.details)")
        }
    }

    /// A geometry: JSON, `x,y` for a point, or `xmin,ymin,xmax,ymax` for an envelope, with blanks and exponents. nil when there
    /// is none (`null` and `{}` as well). One that is there and has no place is refused: it chooses nothing, and must not be
    /// taken for none, which chooses everything.
    package func geometry(
        _ name: String, spatialReference: SpatialReference?
    ) throws(ServiceError) -> Geometry? {
        guard let text = self[name]?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
        if text.hasPrefix("{") {
            guard let value = try json(name), value.objectValue?.isEmpty == false else { return nil }
            let geometry: Geometry?
            do {
                geometry = try GeoServicesJSON.geometry(from: value, defaultSpatialReference: spatialReference)
            } catch {
                throw .invalidParameter("'\(name)': \(error.details)")
            }
            guard let geometry, !geometry.isEmpty else { throw .invalidParameter("'\(name)' is empty.") }
            return geometry
        }
        if text == "null" { return nil }
        var numbers: [Double] = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = Self.coordinate(word), number.isFinite, numbers.count < 4 else {
                throw .invalidParameter("'\(name)' is not a geometry.")
            }
            numbers.append(number)
        }
        switch numbers.count {
        case 2: return Point(x: numbers[0], y: numbers[1], spatialReference: spatialReference)
        case 4:
            return Envelope(
                xMin: min(numbers[0], numbers[2]), yMin: min(numbers[1], numbers[3]), xMax: max(numbers[0], numbers[2]),
                yMax: max(numbers[1], numbers[3]), spatialReference: spatialReference)
        default: throw .invalidParameter("'\(name)' is not a geometry.")
        }
    }
    /// A number of a list. QGIS does not encode what it writes into an address: of `-1.36e+07` a blank is left for the plus.
    private static func coordinate(_ word: Substring) -> Double? {
        let text = word.trimmingCharacters(in: .whitespaces)
        if let number = Double(text) { return number }
        return text.contains(" ") ? Double(text.lowercased().replacing("e ", with: "e+")) : nil
    }
}
