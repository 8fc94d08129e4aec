import FieldworkREST
public import Foundation

extension ArcGISFeature {
    /// Whether attachments of the feature may be added, replaced and deleted: the layer has attachments, and it allows to
    /// change this feature.
    public var canEditAttachments: Bool {
        guard let table = table as? ArcGISFeatureTable, table.hasAttachments, let objectID else { return false }
        // What the service does not have yet belongs to who made it.
        return table.canUpdate(self) || objectID < 0 && table.canAdd
    }

    /// Whether the geometry of the feature may be changed: the table and its service allow it.
    public var canUpdateGeometry: Bool { table?.canEditGeometry(of: self) ?? false }

    /// The attachments, those included that were staged on this device: what they are called and what they are, not their
    /// bytes. Throws `ServiceError` when the service can't be asked.
    public var attachments: [Attachment] {
        get async throws { try await attachmentSource().attachments(of: self) }
    }

    /// The attachments, as older releases of the vendor's SDK ask for them.
    public func fetchAttachments() async throws -> [Attachment] { try await attachments }

    /// Adds an attachment. It is on this device's disk when the call returns. In a service's table the service gets it with
    /// `applyEdits` of the table or the service geodatabase, and `undoLocalEdits` drops it; in a geodatabase it is part of
    /// the open transaction, goes with the next sync, and `undo` takes it back.
    ///
    /// Throws `GeodatabaseError.tableNotEditable` where attachments can't be edited, `valueOutOfRange` for one that is too
    /// large, and `itemNotFound` for a feature that is not part of its table.
    @discardableResult
    public func addAttachment(named name: String, contentType: String, data: Data) async throws -> Attachment {
        try await addAttachment(named: name, contentType: contentType, keywords: "", content: .data(data))
    }

    /// Adds an attachment with the keywords that forms and pop-ups find it by. Not part of the vendor's API.
    @discardableResult
    public func addAttachment(
        named name: String, contentType: String, keywords: String, data: Data
    ) async throws -> Attachment {
        try await addAttachment(named: name, contentType: contentType, keywords: keywords, content: .data(data))
    }

    /// Adds an attachment again that was deleted with its feature, after the feature was added again. A service may have given it back
    /// with the feature already: under the id that it had it is there once. A service that takes no global ids gets it as a new one. Not
    /// part of the vendor's API.
    /// - Parameter globalID: The ``Attachment/globalID`` that it had; nil for a new one.
    @discardableResult
    public func addAttachment(
        named name: String, contentType: String, keywords: String, data: Data, globalID: UUID?
    ) async throws -> Attachment {
        try await addAttachment(
            named: name, contentType: contentType, keywords: keywords, content: .data(data), globalID: globalID)
    }

    /// Adds an attachment from a file, which is copied and never wholly in memory. Not part of the vendor's API.
    @discardableResult
    public func addAttachment(
        named name: String, contentType: String, keywords: String = "", contentsOf file: URL
    ) async throws -> Attachment {
        try await addAttachment(named: name, contentType: contentType, keywords: keywords, content: .file(file))
    }

    private func addAttachment(
        named name: String, contentType: String, keywords: String, content: AttachmentFiles.Source,
        globalID: UUID? = nil
    ) async throws -> Attachment {
        let source = try editableSource()
        var edit = AttachmentEdit(id: 0, globalID: globalID, operation: .add)
        edit.name = try Self.checked(name)
        edit.contentType = contentType
        edit.keywords = keywords
        guard let staged = try await source.stage(edit, content: content, of: self), let objectID else {
            throw GeodatabaseError.internalError(details: "The attachment was not kept.")
        }
        return Attachment(staged, of: objectID, source: source)
    }

    /// Replaces an attachment: its name, its type and its bytes. Kept and sent like a new one.
    public func updateAttachment(
        _ attachment: Attachment, name: String, contentType: String, data: Data
    ) async throws {
        let source = try editableSource()
        var edit = attachment.edit
        edit.operation = .update
        edit.name = try Self.checked(name)
        edit.contentType = contentType
        if let staged = try await source.stage(edit, content: .data(data), of: self) { attachment.adopt(staged) }
    }

    /// Deletes an attachment: one that the service does not have is gone at once, others go from the service with
    /// `applyEdits`.
    public func deleteAttachment(_ attachment: Attachment) async throws { try await deleteAttachments([attachment]) }

    /// Deletes attachments.
    public func deleteAttachments(_ attachments: [Attachment]) async throws {
        let source = try editableSource()
        for attachment in attachments {
            var edit = attachment.edit
            edit.operation = .delete
            edit.content = nil
            _ = try await source.stage(edit, content: nil, of: self)
        }
    }

    // MARK: Checks

    private func attachmentSource() throws -> any AttachmentSource {
        guard let source = table?.attachmentSource else {
            throw GeodatabaseError.tableNotEditable(
                details: "The table \(table?.displayName ?? "") has no attachments.")
        }
        return source
    }

    private func editableSource() throws -> any AttachmentSource {
        let source = try attachmentSource()
        guard objectID != nil else {
            throw GeodatabaseError.itemNotFound(details: "The feature has not been added to its table.")
        }
        guard canEditAttachments else {
            throw GeodatabaseError.tableNotEditable(details: "The attachments of this feature can't be changed.")
        }
        return source
    }

    /// The name of a file, not a way to one.
    private static func checked(_ name: String) throws -> String {
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "/" && $0 != "\\" && $0.value != 0x7F }
        guard isPlain, !name.isEmpty, ![".", ".."].contains(name), name.count <= Limits.attachmentNameLength else {
            throw GeodatabaseError.invalidArgument(details: "An attachment can't be called \"\(name)\".")
        }
        return name
    }
}
