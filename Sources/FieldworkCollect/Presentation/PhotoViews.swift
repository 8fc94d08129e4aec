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

    private static let sizeNames: [(size: StagedAttachment.PreferredSize, name: String)] = [
        (.small, "Small"), (.medium, "Medium"), (.large, "Large"), (.extraLarge, "Extra large"), (.actual, "Actual"),
    ]

    // MARK: Of a feature

    func facts(_ attachment: Attachment, of found: FoundFeature) -> PhotoFacts {
        PhotoFacts(
            attachment: attachment, title: FeatureTitle(layer: found.layer, feature: found.feature).title,
            list: "\(found.reference.address)/photos", isPlainFile: map.isPlainFile)
    }

    /// Up to three of them in a pop-up view, and the way to all; nil for a layer without.
    func strip(_ found: FoundFeature) async throws -> FeaturePhotos? {
        guard found.layer.hasPhotos else { return nil }
        let attachments = try await map.photosIfAnswered(found)
        let facts = (attachments ?? []).filter { PhotoFacts.isPicture($0.contentType) }.prefix(3)
            .map { self.facts($0, of: found) }
        let pictures = facts.compactMap { photo in
            photo.thumbnail.map {
                FeaturePhotos.Picture(name: photo.name, address: photo.address, thumbnail: $0)
            }
        }
        return FeaturePhotos(
            all: "\(found.reference.address)/photos", count: attachments.map { "\($0.count)" } ?? "?",
            hasPictures: !pictures.isEmpty, pictures: pictures)
    }

    // MARK: In a form

    /// The section of photos and files of a form; nil where there can't be any.
    func section(
        _ subject: FormSubject, values: FormValues?, problems: [FormSession.Problem]
    ) async throws -> PhotoSection? {
        guard subject.layer.hasPhotos else { return nil }
        let draft = DraftStore.id(of: subject.address)
        let staged = map.drafts.photos.photos(of: draft).enumerated().map { index, photo in
            self.staged(photo, number: index + 1, draft: draft, values: values, problems: problems)
        }
        let known = try await known(subject, values: values)
        let note =
            known == nil ? "The photos of this \(subject.layer.noun) didn't load: the server doesn't answer." : nil
        return PhotoSection(
            note: note, known: known ?? [], staged: staged, isEmpty: (known ?? []).isEmpty && staged.isEmpty)
    }

    /// nil while the server doesn't answer.
    private func known(_ subject: FormSubject, values: FormValues?) async throws -> [PhotoSection.Known]? {
        guard let reference = subject.layer.reference(of: subject.feature),
            subject.layer.objectID(of: subject.feature) != nil
        else { return [] }
        let found = FoundFeature(layer: subject.layer, feature: subject.feature, reference: reference, place: nil)
        return try await map.photosIfAnswered(found)?.map { attachment in
            let photo = facts(attachment, of: found)
            let gone = PhotoEdits.goneField(attachment.id)
            return PhotoSection.Known(
                name: photo.name, thumbnail: photo.thumbnail, size: photo.size, state: photo.state, gone: gone,
                isGone: values?[gone] == "yes")
        }
    }

    private func staged(
        _ photo: StagedPhoto, number: Int, draft: String, values: FormValues?, problems: [FormSession.Problem]
    ) -> PhotoSection.Staged {
        let id = photo.id.uuidString.lowercased()
        let nameField = PhotoEdits.field(photo, "name")
        let goneField = PhotoEdits.field(photo, "gone")
        let placeField = PhotoEdits.field(photo, "place")
        let preview = "/drafts/\(draft)/photos/\(id)?edge=\(Limits.thumbnailEdge)"
        return PhotoSection.Staged(
            title: "New \(photo.isPicture ? "photo" : "file") \(number)", field: id,
            preview: PhotoFacts.isPicture(photo.contentType) ? preview : nil,
            bytes: ByteText.whole(Int64(photo.size)), goneField: goneField, isGone: values?[goneField] != nil,
            nameField: nameField, name: values?[nameField] ?? photo.name,
            message: problems.first { $0.field == nameField }?.text, sizes: sizes(photo, values: values),
            place: photo.hasPlace
                ? PhotoSection.TakenPlace(field: placeField, isRemoved: values?[placeField] != nil) : nil)
    }

    /// The sizes that a photo can be kept in; nil where there is no choice.
    private func sizes(_ photo: StagedPhoto, values: FormValues?) -> PhotoSection.Sizes? {
        let field = PhotoEdits.field(photo, "size")
        let chosen =
            values?[field].flatMap(StagedAttachment.PreferredSize.init(rawValue:))
            ?? PhotoEdits.size(of: photo, preferred: pages.workspace.settings.photoSize)
        let list = Self.sizeNames.compactMap { size, name -> FormOption? in
            let bytes = size == .actual ? photo.size : photo.smaller[size.rawValue]
            return bytes.map {
                FormOption(
                    value: size.rawValue, text: "\(name), \(ByteText.whole(Int64($0)))", current: size == chosen)
            }
        }
        return list.count > 1 ? PhotoSection.Sizes(sizeField: field, list: list) : nil
    }
}
