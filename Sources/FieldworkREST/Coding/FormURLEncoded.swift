internal import FieldworkGeometry

/// Forms as HTTP carries them in addresses and bodies (`application/x-www-form-urlencoded`), read as the protocol's
/// clients write them: some of them do not encode what they send.
package enum FormURLEncoded {
    /// The fields in the order in which they were sent.
    /// - Throws: when a field is not UTF-8.
    package static func fields(_ text: some Collection<UInt8>) throws(ServiceError) -> [(name: String, value: String)] {
        let bytes = ContiguousArray(text)
        if let raw = rawFeatures(bytes) { return raw }
        var fields: [(name: String, value: String)] = []
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: 0x26) ?? bytes.endIndex
            let part = bytes[start..<end]
            start = end + 1
            guard !part.isEmpty else { continue }
            // Counted before it is read: what is refused is not built.
            guard fields.count < Limits.parameterCount else {
                throw .invalidParameter("The form has more than \(Limits.parameterCount) fields.")
            }
            let mark = part.firstIndex(of: 0x3D) ?? part.endIndex
            let name = try decode(part[..<mark])
            let value = mark < part.endIndex ? try decode(part[(mark + 1)...]) : ""
            fields.append((name, value))
        }
        return fields
    }

    private static let rawPrefixes = ["features", "addToDefinition"].map { ($0, Array("f=json&\($0)=".utf8)) }

    /// QGIS posts `f=json&features=` and then JSON without encoding it: a plus sign or a percent sign
    /// in a user's text stands for itself. What parses as JSON undecoded is taken so; encoded JSON never does.
    private static func rawFeatures(_ bytes: ContiguousArray<UInt8>) -> [(name: String, value: String)]? {
        for (name, prefix) in rawPrefixes where bytes.starts(with: prefix) {
            let rest = bytes[prefix.count...]
            guard let text = String(validating: rest, as: UTF8.self), (try? JSONText(text)) != nil else { return nil }
            return [("f", "json"), (name, text)]
        }
        return nil
    }

    /// Percent decoding with `+` for a space. A percent sign that starts no escape stands for itself.
    private static func decode(_ bytes: ArraySlice<UInt8>) throws(ServiceError) -> String {
        // Mostly there is nothing to decode.
        if !bytes.contains(where: { $0 == 0x25 || $0 == 0x2B }) { return try text(bytes) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var position = bytes.startIndex
        while position < bytes.endIndex {
            let byte = bytes[position]
            if byte == 0x25, position + 2 < bytes.endIndex, let high = hexValue(bytes[position + 1]),
                let low = hexValue(bytes[position + 2])
            {
                decoded.append(high << 4 | low)
                position += 3
            } else {
                decoded.append(byte == 0x2B ? 0x20 : byte)
                position += 1
            }
        }
        return try text(decoded)
    }

    private static func text(_ bytes: some Collection<UInt8>) throws(ServiceError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .invalidParameter("A parameter is not UTF-8 text.")
        }
        return text
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x37
        case 0x61...0x66: digit - 0x57
        default: nil
        }
    }
}
