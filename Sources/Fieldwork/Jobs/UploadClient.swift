import FieldworkREST
import Foundation

/// Brings files to a service in parts (rest-api §4.11). A part that was cut is sent again, smaller, and nothing else is.
struct UploadClient: Sendable {
    /// `…/FeatureServer`.
    let root: URL
    let client: any ServiceClient

    /// A file on this device.
    struct Content: Sendable {
        var file: URL
        /// In bytes.
        var size: Int64
        var name: String
        var type: String
    }

    typealias State = ReplicaRecord.ContentUpload

    /// Sends what the service does not have of a file.
    /// - Parameters:
    ///   - state: how far an earlier attempt came; nil for none.
    ///   - keep: called before anything depends on what is new of the state.
    /// - Returns: the service's name for the file.
    func send(
        _ content: Content, _ state: inout State?, keep: (State) async throws -> Void
    ) async throws -> String {
        var upload: State
        if let known = try await resumed(state) {
            upload = known
        } else {
            upload = State(itemID: try await register(content))
        }
        state = upload
        if upload.isComplete { return upload.itemID }
        try await keep(upload)
        try await sendParts(content, &upload) { changed in
            state = changed
            try await keep(changed)
        }
        try await commit(content, upload)
        upload.isComplete = true
        state = upload
        try await keep(upload)
        return upload.itemID
    }

    // MARK: Parts

    private func sendParts(
        _ content: Content, _ upload: inout State, keep: (State) async throws -> Void
    ) async throws {
        var size = PartSize()
        var failures = 0
        var sent = upload.parts.reduce(Int64(0)) { $0 + Int64($1) }
        // An empty file is a part too.
        while sent < content.size || upload.parts.isEmpty {
            try Task.checkCancellation()
            let number = upload.parts.count + 1
            let length = min(Int64(size.bytes), content.size - sent)
            do {
                try await send(number, sent..<(sent + length), of: content, upload.itemID)
            } catch let error as ServiceError {
                guard case .connectionFailed = error, failures < Limits.uploadAttempts else { throw error }
                failures += 1
                try await Task.sleep(for: .milliseconds(Limits.firstPollMilliseconds << min(failures, 5)))
                // It may have arrived, though its answer did not.
                guard try await parts(of: upload.itemID).contains(number) else {
                    size.wasCut()
                    continue
                }
            }
            failures = 0
            size.arrived()
            sent += length
            upload.parts.append(Int(length))
            try await keep(upload)
        }
    }

    /// As large as the line lets through at a time.
    private struct PartSize {
        private(set) var bytes = Limits.uploadPartBytes
        private var successes = 0

        mutating func wasCut() {
            bytes = max(bytes / 4, Limits.smallestUploadPartBytes)
            successes = 0
        }

        mutating func arrived() {
            successes += 1
            guard successes >= Limits.partsBeforeGrowth else { return }
            bytes = min(bytes * 2, Limits.uploadPartBytes)
            successes = 0
        }
    }

    // MARK: Operations

    private func register(_ content: Content) async throws -> String {
        let json = try await write("register", [("itemName", content.name)])
        guard let id = json["item"]?["itemID"]?.stringValue else {
            throw ServiceError.unknown(details: "The answer to an upload has no id.")
        }
        return id
    }

    private func send(_ number: Int, _ range: Range<Int64>, of content: Content, _ id: String) async throws {
        let file = MultipartForm.File(
            part: "file", url: content.file, name: content.name, contentType: content.type,
            size: range.upperBound - range.lowerBound, offset: range.lowerBound)
        _ = try await write("\(id)/uploadPart", [("partId", String(number))], file)
    }

    private func commit(_ content: Content, _ upload: State) async throws {
        let parts = (1...upload.parts.count).map(String.init).joined(separator: ",")
        let item = try await write("\(upload.itemID)/commit", [("parts", parts)])["item"]
        if let size = item?["size"]?.integerValue, size != content.size {
            throw ServiceError.unknown(details: "The upload \(content.name) did not arrive as it was sent.")
        }
    }

    private func parts(of id: String) async throws -> Set<Int> {
        let json = try await read("\(id)/parts")
        let parts = (json["parts"]?.arrayValue ?? []).compactMap { $0.integerValue ?? $0["partId"]?.integerValue }
        return Set(parts.compactMap { Int(exactly: $0) })
    }

    /// What is left of an earlier attempt; nil when the service no longer has all of it.
    private func resumed(_ known: State?) async throws -> State? {
        guard let known else { return nil }
        do {
            var known = known
            if try await read(known.itemID)["committed"] == .bool(true) {
                known.isComplete = true
                return known
            }
            guard !known.isComplete else { return nil }
            return try await parts(of: known.itemID).isSuperset(of: 1..<(known.parts.count + 1)) ? known : nil
        } catch let error as ServiceError {
            guard case .serverFailure = error else { throw error }
            return nil
        }
    }

    private func write(
        _ path: String, _ parameters: [(name: String, value: String)], _ file: MultipartForm.File? = nil
    ) async throws -> JSONValue {
        var request = ServiceRequest(
            root.appending(path: "uploads/\(path)"), parameters + [("f", "json")], isRead: false)
        request.file = file
        return try await json(request)
    }

    private func read(_ path: String) async throws -> JSONValue {
        try await json(ServiceRequest(root.appending(path: "uploads/\(path)"), [("f", "json")]))
    }

    private func json(_ request: ServiceRequest) async throws -> JSONValue {
        let answer = try await client.answer(to: request)
        guard let json = try? JSONParser.parse(answer.bytes) else {
            throw ServiceError.unknown(details: "The answer to an upload is not JSON.")
        }
        if let error = FieldworkREST.ServiceError(answer: json) { throw ServiceError(error) }
        return json
    }
}
