import Fieldwork
import Foundation

/// What a posted form says about photos and files: which of the staged ones are kept and how, which known ones go.
struct PhotoEdits: Sendable {
    struct Addition: Sendable {
        let photo: StagedPhoto
        var name: String
        var size: StagedAttachment.PreferredSize
        var removesPlace: Bool
    }

    /// The draft that the staged ones belong to.
    var draft = ""
    var additions: [Addition] = []
    /// Ids of attachments that are to go.
    var deletions: [Int] = []
    var problems: [AttributeForm.Problem] = []

    var isEmpty: Bool { additions.isEmpty && deletions.isEmpty }

    static func field(_ photo: StagedPhoto, _ what: String) -> String {
        "photo.\(photo.id.uuidString.lowercased()).\(what)"
    }

    static func goneField(_ attachment: Int) -> String { "gone.\(attachment)" }

    init() {}

    /// - Parameter preferred: the size that was chosen last.
    init(
        _ staged: [StagedPhoto], draft: String, posted: FormValues, preferred: StagedAttachment.PreferredSize
    ) {
        self.draft = draft
        for photo in staged where posted[Self.field(photo, "gone")] == nil {
            let name = Self.name(posted[Self.field(photo, "name")] ?? photo.name, of: photo)
            let size =
                posted[Self.field(photo, "size")].flatMap(StagedAttachment.PreferredSize.init(rawValue:))
                ?? Self.size(of: photo, preferred: preferred)
            if let complaint = Self.complaint(name) {
                problems.append(.init(field: Self.field(photo, "name"), label: "Name of the file", text: complaint))
            }
            additions.append(
                Addition(
                    photo: photo, name: name, size: size,
                    removesPlace: posted[Self.field(photo, "place")] == "remove"))
        }
        deletions = posted.pairs.compactMap { name, value in
            name.hasPrefix("gone.") && value == "yes" ? Int(name.dropFirst("gone.".count)) : nil
        }
    }

    /// The size chosen last, where the photo is larger than that.
    static func size(
        of photo: StagedPhoto, preferred: StagedAttachment.PreferredSize
    ) -> StagedAttachment.PreferredSize {
        photo.smaller[preferred.rawValue] == nil ? .actual : preferred
    }

    /// The ending tells what a file is: a name that was typed without it gets it again.
    private static func name(_ typed: String, of photo: StagedPhoto) -> String {
        let name = typed.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !name.isEmpty, let dot = photo.name.lastIndex(of: "."), dot != photo.name.startIndex else { return name }
        let ending = photo.name[dot...]
        return name.lowercased().hasSuffix(ending.lowercased()) ? name : name + ending
    }

    private static func complaint(_ name: String) -> String? {
        if name.isEmpty { return "Type a name." }
        if name.count > 200 { return "\(name.count) characters are more than the 200 of a name." }
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "/" && $0 != "\\" }
        return isPlain && name != "." && name != ".." ? nil : "A name has no slash."
    }
}

extension EditJournal.AttachmentChanges {
    /// "2 photos added, 1 file deleted"; empty for none.
    var words: String {
        func words(_ records: [EditJournal.AttachmentRecord], _ verb: String) -> [String] {
            let photos = records.count { $0.contentType.hasPrefix("image/") }
            let files = records.count - photos
            return [
                photos > 0 ? "\(FieldText.count(photos, "photo")) \(verb)" : nil,
                files > 0 ? "\(FieldText.count(files, "file")) \(verb)" : nil,
            ].compactMap { $0 }
        }
        return (words(added, "added") + words(deleted, "deleted")).joined(separator: ", ")
    }
}
