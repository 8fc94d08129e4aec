import FieldworkGeometry
public import Foundation
import Synchronization

extension PortalItem {
    // MARK: Updates

    /// Sends what was set of the item and nothing else, so that what others changed stays. Where the portal has another value
    /// than the one that was read here, nothing is sent.
    /// - Throws: `PortalError.itemWasChanged`, `ServiceError`.
    public func updateProperties() async throws {
        let (known, changes) = state.withLock { ($0.known, $0.changes) }
        guard !changes.isEmpty else { return }
        let now = try await described()
        for name in changes.keys where !known.isEmpty && !Self.isSame(now[name], known[name]) {
            throw PortalError.itemWasChanged(
                details: "\(title): \(name) was changed in the portal since it was read here. Read the item again.")
        }
        _ = try await write("update", Self.form(changes))
        becomeUpdated(try await described())
    }

    private static func isSame(_ one: JSONValue?, _ other: JSONValue?) -> Bool {
        let empty: Set<JSONValue?> = [nil, .null, "", []]
        return one == other || (empty.contains(one) && empty.contains(other))
    }

    /// Replaces the item's content. When the item was changed in the portal since it was loaded here, nothing is sent.
    /// - Throws: `PortalError.itemWasChanged`, `ServiceError`.
    public func updateData(with parameters: PortalItemContentParameters) async throws {
        try await refuseIfChanged()
        let (form, file) = try parameters.parts()
        _ = try await write("update", form, file: file)
        becomeUpdated(try await described())
    }

    /// Replaces the item's picture by a file of this device. Throws `CommonError.fileNotFound`, `ServiceError`.
    public func updateThumbnail(at file: URL) async throws {
        guard let size = (try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize else {
            throw CommonError.fileNotFound(details: "\(file.lastPathComponent) can't be read.")
        }
        let type = file.pathExtension.lowercased() == "png" ? "image/png" : "image/jpeg"
        let part = MultipartForm.File(
            part: "thumbnail", url: file, name: file.lastPathComponent, contentType: type, size: Int64(size), offset: 0)
        _ = try await write("update", [], file: part)
        becomeUpdated(try await described())
    }

    /// Throws `PortalError.itemWasChanged` when the portal has a newer version than the one that is known here.
    func refuseIfChanged() async throws {
        if state.withLock({ $0.known["modified"] }) == nil { try await load() }
        let known = state.withLock { $0.known["modified"] }
        let now = try await described()
        guard now["modified"] == known else {
            let when = now.date("modified").map { " at \($0.formatted(.iso8601))" } ?? ""
            throw PortalError.itemWasChanged(
                details: "\(title) was changed in the portal\(when), after it was read here. Read it again, or save "
                    + "under another title.")
        }
    }

    /// What a request tells of the item.
    var form: [(name: String, value: String)] { Self.form(state.withLock { $0.changes }) }

    private static func form(_ values: JSONObject) -> [(name: String, value: String)] {
        values.members.map { member in
            let parts = (member.value.arrayValue ?? []).map { $0.stringValue ?? $0.text }
            // Lists go with commas between them, and an extent as its four numbers.
            let numbers = (member.value.arrayValue ?? []).compactMap(\.arrayValue).joined().map(\.text)
            let list = (numbers.isEmpty ? parts : Array(numbers)).joined(separator: ",")
            return (member.key, member.value.arrayValue == nil ? member.value.stringValue ?? "" : list)
        }
    }

    private func write(
        _ operation: String, _ form: [(name: String, value: String)], file: MultipartForm.File? = nil
    ) async throws -> JSONObject {
        let steps = try steps()
        if owner.isEmpty { try await load() }
        return try await portal.client.write(
            ["content", "users", owner, "items"] + steps.suffix(1) + [operation], form, file: file)
    }

    // MARK: Sharing

    /// Says who sees the item. Throws `PortalError.notShared` when groups refuse it, `ServiceError`.
    /// - Parameters:
    ///   - access: who sees it; `shared` for the groups alone.
    ///   - groups: the groups whose members see it besides.
    public func share(with access: Access, groups: [PortalGroup] = []) async throws {
        let answer = try await write(
            "share",
            [
                ("everyone", String(access == .everyone)),
                ("org", String(access == .everyone || access == .organization)),
                ("groups", groups.map(\.id.rawValue).joined(separator: ",")),
            ])
        let refused = answer.texts("notSharedWith")
        guard refused.isEmpty else {
            throw PortalError.notShared(details: "\(title) can't be shared with \(refused.joined(separator: ", ")).")
        }
        becomeUpdated(try await described())
    }

    /// Takes the item out of groups. Throws `ServiceError`.
    public func unshare(from groups: [PortalGroup]) async throws {
        _ = try await write("unshare", [("groups", groups.map(\.id.rawValue).joined(separator: ","))])
        becomeUpdated(try await described())
    }
}
