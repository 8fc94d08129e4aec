import FieldworkGeometry

/// A limit that a module keeps, as `fieldwork limits` tells it.
struct NamedLimit {
    var module: String
    var name: String
    /// The value as the source says it.
    var value: String
    var meaning: String

    /// Told by the end of the name, which is how limits are named.
    var unit: String {
        let units = [
            ("Milliseconds", "ms"), ("Seconds", "s"), ("Kibibytes", "KiB"), ("Bytes", "bytes"), ("Metres", "m"),
            ("Characters", "characters"), ("Length", "characters"), ("Pages", "pages"), ("Depth", "levels"),
        ]
        let lowercased = name.lowercased()
        if let unit = units.first(where: { lowercased.hasSuffix($0.0.lowercased()) }) { return unit.1 }
        return lowercased.contains("bytes") ? "bytes" : "items"
    }

    /// The value as a number where it is a product of numbers.
    var amount: String {
        let factors = value.split(separator: "*").map { part in
            Double(part.filter { $0 != "_" && $0 != " " })
        }
        guard factors.allSatisfy({ $0 != nil }) else { return value }
        let product = factors.compactMap(\.self).reduce(1, *)
        return product == product.rounded() && product < 1e15 ? String(Int64(product)) : String(product)
    }

    /// A number, where it is one.
    var amountJSON: JSONValue {
        Int64(amount).map(JSONValue.integer) ?? Double(amount).map(JSONValue.number) ?? .string(amount)
    }
}
