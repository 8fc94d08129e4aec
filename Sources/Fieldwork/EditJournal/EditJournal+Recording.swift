public import Foundation

extension EditJournal {
    /// Writes down an edit that its table has taken. When it returns the entry is on disk.
    ///
    /// Throws what Foundation throws for a disk that takes no more. The edit itself is safe then: the table has it.
    /// - Parameters:
    ///   - kind: What was done.
    ///   - feature: The feature as it is after the edit; of one that was deleted, as it was.
    ///   - reference: How the feature is named.
    ///   - before: The feature before the edit; nil for one that was added.
    ///   - title: What the feature is called, for people.
    ///   - detail: What was done, for people.
    ///   - session: A name of the attempt to save: ``entry(session:)`` finds the entry by it. nil for none.
    ///   - follows: The edit that this one follows from by a rule; nil for none.
    ///   - photos: The attachments that the edit added and deleted.
    @discardableResult
    public func record(
        _ kind: Entry.Kind, of feature: Feature, as reference: FeatureReference, before: FeatureSnapshot?,
        title: String, detail: String, session: String? = nil, follows: UUID? = nil,
        photos: AttachmentChanges = AttachmentChanges()
    ) throws -> Entry {
        try record(
            kind, of: feature, as: reference, before: before, title: title, detail: detail, session: session,
            undoes: nil, follows: follows, photos: photos)
    }

    func record(
        _ kind: Entry.Kind, of feature: Feature, as reference: FeatureReference, before: FeatureSnapshot?,
        title: String, detail: String, session: String? = nil, undoes: UUID?, follows: UUID? = nil,
        photos: AttachmentChanges
    ) throws -> Entry {
        let table = feature.table as? ArcGISFeatureTable
        let entry = Entry(
            id: UUID(), kind: kind, session: session, feature: reference,
            objectID: table.flatMap { FeatureReference.objectID(of: feature, field: $0.objectIDField) }, title: title,
            detail: detail, date: Date(), before: before, after: kind == .delete ? nil : FeatureSnapshot(feature),
            progress: .onDevice, undoes: undoes, follows: follows, photos: photos.isEmpty ? nil : photos)
        try append(entry)
        return entry
    }

    // MARK: What became of them

    /// Writes down what became of edits that were sent: the service took them, but for those of features that it refused.
    ///
    /// Throws what Foundation throws for a disk that takes no more.
    /// - Parameters:
    ///   - entries: The edits that were on this device when the sending began. What was edited later is not among them.
    ///   - refusals: The reasons, by features under any of their names.
    public func settle(_ entries: [Entry], refusals: [FeatureReference: String] = [:]) throws {
        var accepted: [UUID] = []
        for entry in entries {
            let object = entry.objectID.map { FeatureReference(layer: entry.feature.layer, key: .object($0)) }
            if let reason = refusals[current(entry.feature)] ?? object.flatMap({ refusals[$0] }) {
                try setProgress(.refused(reason), of: [entry.id])
            } else {
                accepted.append(entry.id)
            }
        }
        try setProgress(.onServer(Date()), of: accepted)
    }
}
