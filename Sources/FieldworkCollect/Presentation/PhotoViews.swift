import Fieldwork
import Foundation

/// What templates read of photos and files.
struct PhotoViews {
    let pages: PageRenderer
    let map: OpenMap

    // MARK: Names and sizes

    /// A camera's own name for a picture tells nobody anything: the feature's does. Files keep theirs.
    static func name(_ file: PostedFile, title: String, number: Int, now: Date = Date()) -> String {
        let plain = file.name.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        let name = String(String.UnicodeScalarView(plain)).trimmingCharacters(in: .whitespaces)
        let stem = name.split(separator: ".").first.map(String.init)?.lowercased() ?? ""
        let makers = ["image", "img", "photo", "dsc", "dscn", "dscf", "pxl", "p", "capture", "blob", ""]
        let letters = stem.prefix { $0.isLetter }
        let isCamera = makers.contains(String(letters)) && !stem.dropFirst(letters.count).contains { $0.isLetter }
        guard FileKind(file.data).isPicture, isCamera else { return name.isEmpty ? "File \(number)" : name }
        let day = Calendar.current.dateComponents([.year, .month, .day], from: now)
        let date = [day.year, day.month, day.day].map { part in (part ?? 0) < 10 ? "0\(part ?? 0)" : "\(part ?? 0)" }
        let kind = file.name.split(separator: ".").last.map { ".\($0.lowercased())" } ?? ""
        let clean = title.map { "/\\".contains($0) ? "-" : $0 }
        return "\(String(clean.prefix(80))) \(date.joined(separator: "-")) \(number)\(kind == "." + stem ? "" : kind)"
    }

    static func caption(_ attachment: Attachment, of title: String) -> String {
        attachment.name.isEmpty ? "Photo of \(title)" : attachment.name
    }

    private static let sizeNames: [(size: StagedAttachment.PreferredSize, name: String)] = [
        (.small, "Small"), (.medium, "Medium"), (.large, "Large"), (.extraLarge, "Extra large"), (.actual, "Actual"),
    ]

    // MARK: Known ones

    func row(_ attachment: Attachment, of found: FoundFeature) -> Values {
        let title = FeatureTitle(layer: found.layer, feature: found.feature).title
        let address = "\(found.reference.address)/photos/\(attachment.id)"
        let isPicture = Self.isPicture(attachment.contentType)
        return [
            "name": Self.caption(attachment, of: title), "address": address, "content": "\(address)/content",
            "thumbnail": isPicture ? "\(address)/content?edge=\(Limits.thumbnailEdge)" : false,
            "size": ByteText.whole(Int64(attachment.size)), "isFile": !isPicture,
            "state": map.isPlainFile ? "In the file" : attachment.isLocal ? "Not sent" : "On the server",
            "unsent": attachment.isLocal && !map.isPlainFile,
            "gone": PhotoEdits.goneField(attachment.id), "id": attachment.id,
        ]
    }

    static func isPicture(_ contentType: String) -> Bool {
        ["image/jpeg", "image/png", "image/gif", "image/webp"].contains(contentType.lowercased())
    }

    /// Up to three of them in a pop-up view, and the way to all; nil for a layer without.
    func strip(_ found: FoundFeature) async throws -> Values? {
        guard found.layer.hasPhotos else { return nil }
        let attachments = try await map.photosIfAnswered(found)
        let pictures = (attachments ?? []).filter { Self.isPicture($0.contentType) }.prefix(3)
        return [
            "all": "\(found.reference.address)/photos", "count": attachments.map { "\($0.count)" } ?? "?",
            "pictures": pictures.map { row($0, of: found) }, "hasPictures": !pictures.isEmpty,
        ]
    }

    // MARK: In a form

    /// The section of photos and files of a form; nil where there can't be any.
    func section(
        _ subject: FormSubject, values: FormValues?, problems: [FormSession.Problem]
    ) async throws -> Values? {
        guard subject.layer.hasPhotos else { return nil }
        let draft = DraftStore.id(of: subject.address)
        let staged = map.drafts.photos.photos(of: draft)
        var known: [Values] = []
        var note: Any = false
        if let reference = subject.layer.reference(of: subject.feature),
            subject.layer.objectID(of: subject.feature) != nil
        {
            let found = FoundFeature(layer: subject.layer, feature: subject.feature, reference: reference, place: nil)
            if let attachments = try await map.photosIfAnswered(found) {
                known = attachments.map { attachment in
                    var row = row(attachment, of: found)
                    row["isGone"] = values?[PhotoEdits.goneField(attachment.id)] == "yes"
                    return row
                }
            } else {
                note = "The photos of this \(subject.layer.noun) didn't load: the server doesn't answer."
            }
        }
        let new = staged.enumerated().map { index, photo in
            self.new(photo, number: index + 1, draft: draft, values: values, problems: problems)
        }
        return [
            "known": known, "staged": new, "note": note, "isEmpty": known.isEmpty && staged.isEmpty,
            "noun": subject.layer.noun,
        ]
    }

    private func new(
        _ photo: StagedPhoto, number: Int, draft: String, values: FormValues?, problems: [FormSession.Problem]
    ) -> Values {
        let nameField = PhotoEdits.field(photo, "name")
        let sizeField = PhotoEdits.field(photo, "size")
        let preferred = pages.workspace.settings.photoSize
        let chosen =
            values?[sizeField].flatMap(StagedAttachment.PreferredSize.init(rawValue:))
            ?? PhotoEdits.size(of: photo, preferred: preferred)
        let sizes = Self.sizeNames.compactMap { size, name -> Values? in
            let bytes = size == .actual ? photo.size : photo.smaller[size.rawValue]
            guard let bytes else { return nil }
            return [
                "value": size.rawValue, "text": "\(name), \(ByteText.whole(Int64(bytes)))",
                "current": size == chosen,
            ]
        }
        let isShown = Self.isPicture(photo.contentType)
        return [
            "number": number, "title": "New \(photo.isPicture ? "photo" : "file") \(number)", "nameField": nameField,
            "name": values?[nameField] ?? photo.name,
            "message": (problems.first { $0.field == nameField }?.text).orFalse,
            "sizeField": sizeField, "sizes": sizes.count > 1 ? ["list": sizes] as Values : false,
            "bytes": ByteText.whole(Int64(photo.size)),
            "goneField": PhotoEdits.field(photo, "gone"),
            "isGone": values?[PhotoEdits.field(photo, "gone")] != nil,
            "place": photo.hasPlace
                ? [
                    "field": PhotoEdits.field(photo, "place"),
                    "isRemoved": values?[PhotoEdits.field(photo, "place")] != nil,
                ] as Values : false,
            "preview": isShown
                ? "/drafts/\(draft)/photos/\(photo.id.uuidString.lowercased())?edge=\(Limits.thumbnailEdge)" : false,
            "field": photo.id.uuidString.lowercased(),
        ]
    }
}
