import FieldworkGeometry
import FieldworkREST
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Reads services over the protocol, page by page.
struct ServiceReader: Sendable {
    /// `…/FeatureServer/0`, or `…/FeatureServer` or `…/rest/services` for listings.
    var url: URL

    static let pageSize = 2_000

    init(_ text: String) throws {
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host != nil
        else { throw CommandFailure(.noInput, "\(text) is not the address of a service.") }
        self.url = url
    }

    func get(_ path: String = "", _ parameters: [(String, String)] = []) async throws -> JSONValue {
        var request = URLRequest(url: path.isEmpty ? url : url.appending(path: path), timeoutInterval: 60)
        // As a form: a long condition has no place in an address.
        var form: [UInt8] = []
        for (name, value) in [("f", "json")] + parameters {
            if !form.isEmpty { form.append(0x26) }
            form += Array("\(name)=".utf8) + Self.encoded(value)
        }
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(form)
        let data: Data
        do {
            data = try await URLSession.shared.data(for: request).0
        } catch {
            try Task.checkCancellation()
            throw CommandFailure(.unavailable, "\(url.absoluteString) does not answer: \(error.localizedDescription)")
        }
        guard let json = try? JSONParser.parse(data) else {
            throw CommandFailure(
                .unavailable, "\(url.absoluteString) does not answer as a service of this protocol does.")
        }
        if let error = ServiceError(answer: json) { throw error }
        return json
    }

    private static func encoded(_ text: String) -> [UInt8] {
        text.utf8.flatMap { byte -> [UInt8] in
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
            return isPlain ? [byte] : Array("%".utf8) + Array(String(format: "%02X", byte).utf8)
        }
    }

    func layer() async throws -> LayerDefinition { try LayerDefinition(json: try await get()) }

    /// All features that meet a condition, a page at a time, in the order of their object ids. Each page begins after
    /// the last id of the one before, so that an edit meanwhile makes none be passed over or come twice.
    func pages(
        of layer: LayerDefinition, condition: String, outFields: String, limit: Int?, outSR: Int? = nil,
        _ body: (FeatureSet) async throws -> Void
    ) async throws {
        let key = layer.objectIDField
        let names = outFields.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let showsKey = names.contains { $0 == "*" || $0.lowercased() == key.lowercased() }
        var last: Int64?
        var returned = 0
        while true {
            try Task.checkCancellation()
            let count = min(Self.pageSize, limit.map { $0 - returned } ?? Self.pageSize)
            guard count > 0 else { return }
            var parameters = [
                ("where", last.map { "(\(condition)) AND \(key) > \($0)" } ?? condition),
                ("outFields", showsKey ? outFields : "\(outFields),\(key)"), ("orderByFields", key),
                ("resultRecordCount", String(count)),
            ]
            if layer.hasZ { parameters.append(("returnZ", "true")) }
            if layer.hasM { parameters.append(("returnM", "true")) }
            if let outSR { parameters.append(("outSR", String(outSR))) }
            var set = try FeatureSetReader.read(json: try await get("query", parameters))
            let newest = set.features.compactMap { $0.attributes[key]?.integerValue }.max()
            if !showsKey { set.fields.removeAll { $0.name == key } }
            if !set.features.isEmpty || last == nil { try await body(set) }
            returned += set.features.count
            guard set.exceededTransferLimit, let newest, newest > last ?? .min else { return }
            last = newest
        }
    }
}
