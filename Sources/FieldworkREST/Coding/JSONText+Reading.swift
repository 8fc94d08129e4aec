package import FieldworkGeometry

extension JSONText {
    /// As a parameter says it: a text without its quotes, everything else as it is written.
    package var parameter: String {
        guard text.utf8.first == UInt8(ascii: "\""), case .string(let plain)? = try? value() else {
            return String(text)
        }
        return plain
    }

    var integer: Int64? { (try? value(holding: Limits.listBytes))?.integerValue }

    /// The value, of which no more is made than a request may hold.
    func read(as place: String) throws(ServiceError) -> JSONValue {
        do {
            return try value(holding: Limits.documentBytes)
        } catch {
            throw ServiceError(error, in: place)
        }
    }
}
