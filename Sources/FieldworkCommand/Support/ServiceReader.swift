import Fieldwork
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Reads services over the protocol, page by page.
struct ServiceReader: Sendable {
    /// `…/FeatureServer/0`, or `…/FeatureServer` or `…/rest/services` for listings.
    var url: URL

    static let pageSize = 2_000

    init(_ text: String) throws {
        guard let url = URL(string: text), let scheme = url.scheme, ["http", "https"].contains(scheme), url.host != nil
        else { throw CommandFailure(.noInput, "\(text) is not the address of a service.") }
        self.url = url
        try StoredCredentials.use()
    }

    func get(_ path: String = "", _ parameters: [(String, String)] = []) async throws -> JSONValue {
        let target = path.isEmpty ? url : url.appending(path: path)
        let form = [("f", "json")] + parameters
        let data: [UInt8]
        do {
            // As a form: a long condition has no place in an address.
            data = try await ArcGISEnvironment.urlSession.post(form.map { (name: $0.0, value: $0.1) }, to: target)
        } catch let error as Fieldwork.ServiceError {
            // A request that was broken off here says nothing of the service.
            try Task.checkCancellation()
            guard case .serverFailure = error else {
                throw CommandFailure(.unavailable, "\(url.absoluteString) does not answer: \(error.details)")
            }
            throw CommandFailure(
                .unavailable,
                "\(url.absoluteString) does not answer as a service of this protocol does: \(error.details)")
        }
        guard let json = try? JSONParser.parse(data) else {
            throw CommandFailure(
                .unavailable, "\(url.absoluteString) does not answer as a service of this protocol does.")
        }
        if let error = FieldworkREST.ServiceError(answer: json) { throw error }
        return json
    }

    func layer() async throws -> LayerDefinition {
        let json = try await get()
        if json["id"] == nil, let layers = json["layers"]?.arrayValue {
            let list = (layers + (json["tables"]?.arrayValue ?? [])).map {
                "\(url.absoluteString)/\($0["id"]?.integerValue ?? 0) (\($0["name"]?.stringValue ?? ""))"
            }
            throw CommandFailure(.noInput, "That is a service. Say which layer: \(list.joined(separator: ", ")).")
        }
        return try LayerDefinition(json: json)
    }

    /// All features that meet a condition, a page at a time, in the order of their object ids. Each page begins after
    /// the last id of the one before, so that an edit meanwhile makes none be passed over or come twice.
    func pages(
        of layer: LayerDefinition, condition: String, outFields: String, limit: Int?, outSR: Int? = nil,
        _ body: (FieldworkREST.FeatureSet) async throws -> Void
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
