/// Turns the question marks of our SQL into PostgreSQL's numbered arguments: `?` is the next one, `?2` the second. Marks in
/// quotes stay what they are.
enum StatementText {
    static func numbered(_ sql: String) -> String {
        guard sql.utf8.contains(UInt8(ascii: "?")) else { return sql }
        var result: [UInt8] = []
        result.reserveCapacity(sql.utf8.count + 16)
        var next = 1
        var quote: UInt8?
        let bytes = Array(sql.utf8)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if let open = quote {
                if byte == open { quote = nil }
                result.append(byte)
                continue
            }
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                quote = byte
                result.append(byte)
            case UInt8(ascii: "?"):
                var number = 0
                while index < bytes.count, (0x30...0x39).contains(bytes[index]), number < 100_000 {
                    number = number * 10 + Int(bytes[index] - 0x30)
                    index += 1
                }
                if number == 0 { number = next }
                next = max(next, number + 1)
                result.append(UInt8(ascii: "$"))
                result += String(number).utf8
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
