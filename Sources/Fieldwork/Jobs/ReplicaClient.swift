import FieldworkGeometry
import FieldworkREST
import Foundation

/// The operations on replicas of one feature service, typed as far as both sides need.
struct ReplicaClient: Sendable {
    /// `…/FeatureServer`.
    let root: URL
    let client: any ServiceClient

    /// How far a job of the service is.
    struct JobStatus: Sendable {
        var isFinished: Bool
        /// Where the result lies, once there is one.
        var resultURL: URL?
        /// Bytes of a prepared file; nil where the service does not tell.
        var size: Int64?
        /// The service's own word, for a person.
        var word: String
    }

    /// Has a replica made; the service works on it after it has answered.
    /// - Returns: where to ask how far it is.
    ///
    /// - Parameter id: names the request: repeated after its answer was lost, a service of ours makes nothing anew.
    /// - Parameter isPrepared: whether others are to start from the replica, which is nobody's own then.
    func create(
        _ parameters: GenerateGeodatabaseParameters.Values, name: String, id: UUID, isPrepared: Bool = false
    ) async throws -> URL {
        var form: [(name: String, value: String)] = [
            ("replicaName", name), ("requestId", id.uuidString),
            ("layers", parameters.layerOptions.map { String($0.layerID) }.joined(separator: ",")),
            ("syncModel", parameters.syncModel.wireName), ("dataFormat", try await format(for: parameters)),
            ("async", "true"),
            ("transportType", "esriTransportTypeUrl"), ("returnAttachments", String(parameters.returnsAttachments)),
            ("attachmentsSyncDirection", parameters.effectiveAttachmentDirection.rawValue),
            // Each on its own, so that a large one goes on where a connection broke.
            ("returnAttachmentsDataByUrl", "true"), ("targetType", "client"),
        ]
        var queries = JSONObject()
        for option in parameters.layerOptions { queries.append(String(option.layerID), option.query) }
        form.append(("layerQueries", JSONValue.object(queries).text))
        if let area = parameters.extent, let type = LayerGeometryType(area) {
            form.append(("geometry", GeoServicesJSON.json(for: area).text))
            form.append(("geometryType", type.rawValue))
            if let reference = area.spatialReference {
                form.append(("inSR", GeoServicesJSON.json(for: reference).text))
            }
        }
        if let reference = parameters.outSpatialReference {
            form.append(("replicaSR", GeoServicesJSON.json(for: reference).text))
        }
        if let reference = parameters.reference {
            let options: JSONValue = ["refReplicaId": .string(reference.uuidString)]
            form.append(("replicaOptions", options.text))
        } else if isPrepared {
            form.append(("replicaOptions", #"{"prepared":true}"#))
        }
        let json = try await json(root.appending(path: "createReplica"), form, isRead: false)
        guard let address = json["statusUrl"]?.stringValue, let url = URL(string: address, relativeTo: root) else {
            throw ServiceError.unknown(details: "The service does not say how far the replica is.")
        }
        return url.absoluteURL
    }

    /// A service of ours makes the file itself, with the geometries as they lie there. Of others `sqlite` would be a file
    /// that only its maker can read.
    private func format(for parameters: GenerateGeodatabaseParameters.Values) async throws -> String {
        guard parameters.outSpatialReference == nil else { return "json" }
        // Attachments that are on this device are not to come in a file. That of a prepared area is there for all in one.
        guard parameters.attachmentSources.isEmpty || parameters.reference != nil else { return "json" }
        let service = try await json(root, [])
        return service["syncCapabilities"]?["fieldwork"]?["supportsGeoPackage"] == .bool(true) ? "sqlite" : "json"
    }

    /// Asks once how far a job is. Throws the job's error when it failed.
    func status(at url: URL) async throws -> JobStatus {
        let json = try await json(url, [])
        let word = json["status"]?.stringValue ?? ""
        // Some deployments write the words with spaces.
        switch word.lowercased().filter({ $0 != " " }) {
        case "completed", "completedwitherrors":
            let address = json["resultUrl"]?.stringValue ?? ""
            let result = address.isEmpty ? nil : URL(string: address, relativeTo: root)?.absoluteURL
            return JobStatus(isFinished: true, resultURL: result, size: json["fileSize"]?.integerValue, word: word)
        case "failed":
            let reason = json["error"]?["description"]?.stringValue ?? json["error"]?["message"]?.stringValue
            throw ServiceError.serverFailure(
                details: reason ?? "The service could not finish its work.",
                code: json["error"]?["code"]?.integerValue.flatMap { Int(exactly: $0) })
        default: return JobStatus(isFinished: false, resultURL: nil, word: word)
        }
    }

    /// Sends a replica's edits and fetches what it has not. A sync that is repeated under the same upload id is done once.
    /// Throws `RestoredService` when the service was put back to a state before edits that it had taken.
    /// - Parameter isCompressed: whether the service takes compressed requests.
    func synchronize(_ form: [(name: String, value: String)], isCompressed: Bool) async throws -> JSONValue {
        try await json(root.appending(path: "synchronizeReplica"), form, isRead: false, isCompressed: isCompressed)
    }

    /// Ends a replica.
    func unregister(_ id: UUID) async throws {
        _ = try await json(root.appending(path: "unRegisterReplica"), [("replicaID", id.uuidString)], isRead: false)
    }

    private func json(
        _ url: URL, _ form: [(name: String, value: String)], isRead: Bool = true, isCompressed: Bool = false
    ) async throws -> JSONValue {
        var request = ServiceRequest(url, form + [("f", "json")], isRead: isRead)
        request.isCompressed = isCompressed
        let answer = try await client.answer(to: request)
        guard let json = try? JSONParser.parse(answer.bytes) else {
            throw ServiceError.unknown(details: "The answer of \(url.host() ?? "the service") is not JSON.")
        }
        // A job's state has a member of that name too: null as long as nothing went wrong.
        let isState = json["status"] != nil
        if !isState, let error = FieldworkREST.ServiceError(answer: json) {
            if let restored = RestoredService(error) { throw restored }
            throw ServiceError(error)
        }
        return json
    }
}

extension Geodatabase.SyncModel {
    /// The protocol's name.
    var wireName: String {
        switch self {
        case .none: "none"
        case .geodatabase: "perReplica"
        case .layer: "perLayer"
        }
    }
}

extension GenerateLayerOption {
    /// The member of `layerQueries`.
    fileprivate var query: JSONValue {
        var object = JSONObject()
        object.append("queryOption", .string(queryOption.rawValue))
        object.append("useGeometry", .bool(usesGeometry))
        object.append("includeRelated", .bool(includesRelated))
        if !whereClause.isEmpty { object.append("where", .string(whereClause)) }
        return .object(object)
    }
}
