package import FieldworkGeometry
package import Foundation

/// The parameters of a request, merged from its address and its body. Names match without regard to case; an empty
/// value is an absent one.
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

    package mutating func remove(_ name: String) { values[name.lowercased()] = nil }

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
            return try JSONParser.parse(text, holding: Limits.documentBytes)
        } catch {
            throw ServiceError(error, in: "'\(name)'")
        }
    }

    /// JSON that may be large, to be read piece by piece.
    func jsonText(_ name: String) throws(ServiceError) -> JSONText? {
        guard let text = self[name] else { return nil }
        do {
            return try JSONText(text)
        } catch {
            throw ServiceError(error, in: "'\(name)'")
        }
    }

    /// The text of a parameter that is never long.
    package func list(_ name: String) throws(ServiceError) -> String? {
        guard let text = self[name] else { return nil }
        guard text.utf8.count <= Limits.listBytes else {
            throw .invalidParameter("'\(name)' is longer than \(Limits.listBytes) bytes.")
        }
        return text
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
        guard let text = self[name]?.trimmingSpace, !text.isEmpty else { return nil }
        return String(text)
    }
}

// MARK: - Lists and geometries

extension RequestParameters {
    /// Object ids as clients spell them: `1,2,3`, `1, 2, 3`, `[1,2,3]`.
    package func objectIDs(_ name: String) throws(ServiceError) -> [Int64]? {
        if let text = self[name], let ids = Self.plainIDs(text) { return ids }
        var ids: [Int64] = []
        let isThere = try eachWord(name) { word throws(ServiceError) in
            guard let id = Int64(word) else {
                throw .invalidParameter("'\(name)' has '\(word.prefix(40))', which is no object id.")
            }
            ids.append(id)
        }
        return isThere ? ids : nil
    }

    /// The ids of a list that has nothing but digits and commas, as nearly every one; nil for any other and for what is refused.
    private static func plainIDs(_ text: String) -> [Int64]? {
        // More digits might be too large a number.
        let longest = 18
        var text = text
        return text.withUTF8 { bytes in
            var ids: [Int64] = []
            ids.reserveCapacity(min(bytes.count / 4 + 1, Limits.identifierCount))
            var (id, digits) = (Int64(0), 0)
            for byte in bytes {
                if byte == 0x2C {
                    guard digits > 0, ids.count < Limits.identifierCount else { return nil }
                    ids.append(id)
                    (id, digits) = (0, 0)
                } else {
                    guard (0x30...0x39).contains(byte), digits < longest else { return nil }
                    (id, digits) = (10 * id + Int64(byte - 0x30), digits + 1)
                }
            }
            guard digits > 0, ids.count < Limits.identifierCount else { return nil }
            ids.append(id)
            return ids
        }
    }

    /// Global ids as clients spell them: `{…},{…}`, `["{…}"]`, with or without braces.
    package func globalIDs(_ name: String) throws(ServiceError) -> [UUID]? {
        var ids: [UUID] = []
        let isThere = try eachWord(name) { word throws(ServiceError) in
            guard let id = GUID.parse(String(word)) else {
                throw .invalidParameter("'\(name)' has '\(word.prefix(40))', which is no global id.")
            }
            ids.append(id)
        }
        return isThere ? ids : nil
    }

    /// The words of a list, as a JSON array or separated by commas; empty ones are left out.
    package func words(_ name: String) throws(ServiceError) -> [String]? {
        var words: [String] = []
        let isThere = try eachWord(name) { word throws(ServiceError) in words.append(String(word)) }
        return isThere ? words : nil
    }

    /// Goes through the words of a list, and stops where it is longer than a list may be: nothing is kept of what is refused.
    /// - Returns: whether the parameter is there.
    private func eachWord(
        _ name: String, _ body: (Substring) throws(ServiceError) -> Void
    ) throws(ServiceError) -> Bool {
        guard let text = self[name] else { return false }
        var count = 0
        func take(_ word: Substring) throws(ServiceError) {
            count += 1
            guard count <= Limits.identifierCount else {
                throw .invalidParameter("'\(name)' has more than \(Limits.identifierCount) members. Ask in parts.")
            }
            try body(word)
        }
        let whole = text[...].trimmingSpace
        guard !whole.isEmpty else { return false }
        if whole.utf8.first == UInt8(ascii: "[") {
            guard let list = try jsonText(name), list.isArray else {
                throw .invalidParameter("'\(name)' is not a list.")
            }
            try list.forEachElement { element throws(ServiceError) in
                switch try? element.value() {
                case .string(let word)?: try take(word[...])
                case .integer(let number)?: try take(String(number)[...])
                default: throw .invalidParameter("'\(name)' has an element that is neither a number nor a text.")
                }
            }
            return true
        }
        var rest = whole.utf8
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            let word = Substring(rest[..<end]).trimmingSpace
            rest = end < rest.endIndex ? rest[rest.index(after: end)...] : rest[end...]
            if !word.isEmpty { try take(word) }
        }
        return true
    }

    /// A spatial reference: a wkid, or the JSON of one.
    package func spatialReference(_ name: String) throws(ServiceError) -> SpatialReference? {
        guard let text = self[name]?.trimmingSpace, !text.isEmpty else { return nil }
        let value = text.hasPrefix("{") ? try json(name) ?? .null : .string(String(text))
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
        guard let text = self[name]?.trimmingSpace, !text.isEmpty else { return nil }
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
        // Five pieces are one too many.
        for word in text.split(separator: ",", maxSplits: 4, omittingEmptySubsequences: false) {
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

extension StringProtocol where SubSequence == Substring, UTF8View: BidirectionalCollection {
    /// Without the blanks and line ends on both sides. Mostly there are none, which a look at two bytes tells: a geometry may have
    /// megabytes, and Foundation goes through all of them to make the same text again.
    fileprivate var trimmingSpace: Substring {
        func isPlain(_ byte: UInt8?) -> Bool { byte.map { $0 > 0x20 && $0 < 0x7F } ?? true }
        if isPlain(utf8.first), isPlain(utf8.last) { return self[...] }
        return trimmingCharacters(in: .whitespacesAndNewlines)[...]
    }
}
