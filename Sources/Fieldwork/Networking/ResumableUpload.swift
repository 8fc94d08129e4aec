import Crypto
import FieldworkREST
import Foundation

/// Brings a file to a service over any line. A service of this house tells how much has arrived, and the rest goes from
/// there on, whatever broke in between; others take parts, of which none goes twice that arrived whole.
struct ResumableUpload: Sendable {
    let service: FeatureServiceClient
    let file: MultipartForm.File

    /// Keeps the id as soon as the service has given it, and nothing when it is of no use any more.
    typealias Note = (String?) async throws -> Void

    /// What a service says of an upload.
    private struct Item {
        var id: String
        var isComplete: Bool
        /// How many bytes are there; nil for a service that knows nothing but parts.
        var received: Int64?

        init(_ json: JSONValue) throws {
            guard let id = json["itemID"]?.stringValue else {
                throw ServiceError.unknown(details: "The answer to an upload has no id.")
            }
            self.id = id
            isComplete = json["committed"]?.boolValue ?? false
            received = json["received"]?.integerValue
        }
    }

    /// - Parameters:
    ///   - begunID: what is known of an upload of this file that was begun before, also by an earlier process.
    ///   - note: called before anything depends on what it is told.
    /// - Returns: the id under which an edit can name the file. Throws `ServiceError.connectionFailed` when nothing more
    ///   arrives after `Limits.resumedUploadAttempts`; the next call goes on where this one ended.
    func send(begunID: String?, note: Note) async throws -> String {
        var id = begunID
        var furthest: Int64 = -1
        var attempt = 0
        while true {
            do {
                let item = try await item(id, note)
                if item.id != id { try await note(item.id) }
                id = item.id
                if item.isComplete { return item.id }
                let present = item.received == nil ? try await parts(of: item) : []
                let there = item.received ?? Int64(present.count)
                if there > furthest {
                    furthest = there
                    attempt = 0
                }
                try await sendRest(of: item, but: present)
                return try await commit(item, note)
            } catch let error as ServiceError {
                guard case .connectionFailed = error, attempt < Limits.resumedUploadAttempts else { throw error }
                attempt += 1
                try await service.client.wait(beforeAttempt: attempt)
            }
        }
    }

    /// The upload as the service has it; a new one when there is none or the service has forgotten it.
    private func item(_ id: String?, _ note: Note) async throws -> Item {
        if let id {
            do {
                return try Item(try await service.json(ServiceRequest(address(id), [("f", "json")])))
            } catch let error as ServiceError {
                guard case .serverFailure = error, !error.asksForSignIn else { throw error }
                try await note(nil)
            }
        }
        let request = ServiceRequest(address("register"), [("itemName", file.name), ("f", "json")], isRead: false)
        return try Item(try await service.json(request)["item"] ?? .null)
    }

    private func sendRest(of item: Item, but present: Set<Int64>) async throws {
        guard let received = item.received else { return try await sendParts(of: item, but: present) }
        file.watch?.reached(received)
        guard received < file.size else { return }
        // The file is the body, so that what is known of it goes in the address.
        let place = address("\(item.id)/append").appending(queryItems: [
            URLQueryItem(name: "offset", value: String(received)), URLQueryItem(name: "f", value: "json"),
        ])
        var request = ServiceRequest(place, isRead: false)
        request.file = slice("", from: received, size: file.size - received)
        _ = try await service.json(request)
    }

    /// The numbers of the parts that a service has.
    private func parts(of item: Item) async throws -> Set<Int64> {
        let list = try await service.json(ServiceRequest(address("\(item.id)/parts"), [("f", "json")]))
        return Set(
            (list["parts"]?.arrayValue ?? []).compactMap { part in
                let number = part["partId"] ?? part
                return number.integerValue ?? number.stringValue.flatMap(Int64.init)
            })
    }

    /// The protocol's own way: parts by number, those that lack.
    private func sendParts(of item: Item, but present: Set<Int64>) async throws {
        for number in 1...partCount where !present.contains(number) {
            let offset = (number - 1) * Limits.strangerPartBytes
            file.watch?.reached(offset)
            var request = ServiceRequest(
                address("\(item.id)/uploadPart"), [("partId", String(number)), ("f", "json")], isRead: false)
            request.file = slice("file", from: offset, size: min(Limits.strangerPartBytes, file.size - offset))
            _ = try await service.json(request)
        }
    }

    /// - Parameter part: the name of the form's part; empty for no form.
    private func slice(_ part: String, from offset: Int64, size: Int64) -> MultipartForm.File {
        MultipartForm.File(
            part: part, url: file.url, name: file.name, contentType: file.contentType, size: size, offset: offset,
            watch: file.watch)
    }

    private var partCount: Int64 { max(1, (file.size + Limits.strangerPartBytes - 1) / Limits.strangerPartBytes) }

    private func commit(_ item: Item, _ note: Note) async throws -> String {
        var parameters: [(name: String, value: String)] = [("f", "json")]
        if item.received == nil {
            parameters.append(("parts", (1...partCount).map(String.init).joined(separator: ",")))
        } else {
            parameters += [("size", String(file.size)), ("sha256", try sha256())]
        }
        do {
            let request = ServiceRequest(address("\(item.id)/commit"), parameters, isRead: false)
            return try Item(try await service.json(request)["item"] ?? .null).id
        } catch let error as ServiceError {
            // What the service has is not the file: the next time it goes anew.
            if case .serverFailure = error, !error.asksForSignIn { try await note(nil) }
            throw error
        }
    }

    private func sha256() throws -> String {
        let handle = try FileHandle(forReadingFrom: file.url)
        defer { try? handle.close() }
        var hash = SHA256()
        while let piece = try handle.read(upToCount: Limits.filePieceBytes), !piece.isEmpty { hash.update(data: piece) }
        return hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func address(_ path: String) -> URL { service.root.appending(path: "uploads/\(path)") }
}
