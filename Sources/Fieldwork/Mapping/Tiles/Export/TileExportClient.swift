import FieldworkGeometry
import FieldworkREST
import Foundation

/// The operations of a service of tiles that let a part of them be taken along.
struct TileExportClient: Sendable {
    enum Operation: String, Sendable {
        case exportTiles, estimateExportTilesSize
    }

    /// `…/VectorTileServer` or `…/MapServer`.
    let root: URL
    let client: any ServiceClient

    /// What the service says of itself.
    func description() async throws -> JSONValue { try await json(root, []) }

    /// Has the service begin its work.
    /// - Parameter id: names the request: repeated after its answer was lost, a service of ours begins nothing anew.
    /// - Returns: where to ask how far it is.
    func begin(_ operation: Operation, _ form: [(name: String, value: String)], id: UUID) async throws -> URL {
        let address = root.appending(path: operation.rawValue)
        let json = try await json(address, form + [("requestId", id.uuidString)], isRead: false)
        guard let job = json["jobId"]?.stringValue, !job.isEmpty, !job.contains("/") else {
            throw ServiceError.unknown(details: "The service does not say how far its tiles are.")
        }
        return address.appending(path: "jobs").appending(path: job)
    }

    /// Asks once how far a job is. Throws the job's error when it failed.
    func status(at job: URL) async throws -> (isFinished: Bool, word: String) {
        let json = try await json(job, [])
        let word = (json["jobStatus"] ?? json["status"])?.stringValue ?? ""
        switch word.lowercased() {
        case "esrijobsucceeded", "completed": return (true, word)
        case "esrijobfailed", "esrijobcancelled", "esrijobtimedout", "failed":
            let messages = (json["messages"]?.arrayValue ?? []).compactMap { $0["description"]?.stringValue }
            throw ServiceError.serverFailure(
                details: messages.isEmpty ? "The service could not make the package." : messages.joined(separator: " "),
                code: 500)
        default: return (false, word)
        }
    }

    /// The result of a job that has finished.
    private func value(of job: URL) async throws -> JSONValue {
        let state = try await json(job, [])
        // Some services name the files in the state itself.
        if let url = state["output"]?["outputUrl"]?.arrayValue?.first { return url }
        let path = state["results"]?["out_service_url"]?["paramUrl"]?.stringValue ?? "results/out_service_url"
        guard !path.split(separator: "/").contains("..") else {
            throw ServiceError.unknown(details: "The service names a result that is not the job's.")
        }
        let result = try await json(job.appending(path: path), [])
        guard let value = result["value"] else {
            throw ServiceError.unknown(details: "The service finished its work and gives no result.")
        }
        return value
    }

    /// Where the package of a job lies.
    func file(of job: URL) async throws -> URL {
        let value = try await value(of: job)
        guard let text = value.stringValue, let url = URL(string: text, relativeTo: job)?.absoluteURL else {
            throw ServiceError.unknown(details: "The service does not say where the package is.")
        }
        if ["vtpk", "tpkx", "tpk"].contains(url.pathExtension.lowercased()) { return url }
        let listed = try await json(url, [])["files"]?.arrayValue?.first?["url"]?.stringValue
        guard let file = listed.flatMap({ URL(string: $0, relativeTo: url)?.absoluteURL }) else {
            throw ServiceError.unknown(details: "The service has made no package.")
        }
        return file
    }

    /// Asks how many tiles a part has, and about how many bytes, and waits for the answer.
    func estimate(_ form: [(name: String, value: String)], id: UUID) async throws -> (tiles: Int, bytes: Int64) {
        let job = try await begin(.estimateExportTilesSize, form, id: id)
        try await JobPolling.wait { try await status(at: job).isFinished ? true : nil }
        let value = try await value(of: job)
        guard let bytes = value["totalSize"]?.integerValue,
            let tiles = value["totalTilesToExport"]?.integerValue.flatMap({ Int(exactly: $0) })
        else { throw ServiceError.unknown(details: "The service does not say how large the package would be.") }
        return (tiles, bytes)
    }

    private func json(
        _ url: URL, _ form: [(name: String, value: String)], isRead: Bool = true
    ) async throws -> JSONValue {
        let answer = try await client.answer(to: ServiceRequest(url, form + [("f", "json")], isRead: isRead))
        guard let json = try? JSONParser.parse(answer.bytes) else {
            throw ServiceError.unknown(details: "The answer of \(url.host() ?? "the service") is not JSON.")
        }
        if let error = FieldworkREST.ServiceError(answer: json) { throw ServiceError(error) }
        return json
    }
}

extension TileExportClient {
    /// The parameters that name an area and levels.
    /// - Parameter polygonName: what the service calls a polygon.
    static func form(area: Geometry?, levels: [Int], polygonName: String) throws -> [(name: String, value: String)] {
        var form: [(name: String, value: String)] = [
            ("tilePackage", "true"), ("exportBy", "levelId"),
            ("levels", levels.sorted().map(String.init).joined(separator: ",")),
        ]
        guard let area else { return form + [("exportExtent", "DEFAULT")] }
        guard area is Polygon || area is Envelope else {
            throw CommonError.invalidArgument(details: "The area of interest must be a polygon or an envelope.")
        }
        guard let plane = GeometryEngine.project(area, into: .webMercator) else {
            throw CommonError.invalidArgument(details: "The area of interest has no place in Web Mercator.")
        }
        let extent = GeoServicesJSON.json(for: plane.extent).text
        form.append(("exportExtent", extent))
        if plane is Polygon { form.append((polygonName, GeoServicesJSON.json(for: plane).text)) }
        return form
    }
}
