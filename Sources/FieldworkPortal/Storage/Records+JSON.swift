import FieldworkGeometry
import FieldworkStore

extension Record {
    /// The object that a column holds as text.
    func object(_ column: Int) -> JSONObject {
        guard let text = text(column), let value = try? JSONParser.parse(text) else { return JSONObject() }
        return value.objectValue ?? JSONObject()
    }

    /// The list of texts that a column holds.
    func texts(_ column: Int) -> [String] {
        guard let text = text(column), let value = try? JSONParser.parse(text) else { return [] }
        return (value.arrayValue ?? []).compactMap(\.stringValue)
    }
}

extension JSONObject {
    var text: String { JSONValue.object(self).compactText }
}

extension JSONValue {
    var compactText: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func texts(_ texts: some Sequence<String>) -> JSONValue { .array(texts.map(JSONValue.string)) }
}
