import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// What a form is about: a feature of a layer, new or known, and the records that it refers to.
struct FormSubject: Sendable {
    let layer: MapLayer
    var feature: Feature
    /// Opens the form again; the draft lies under it.
    let address: String
    let action: String
    /// Where Cancel leads.
    let back: String
    let heading: String
    let subheading: String
    /// Posted along unseen.
    var hidden: [(name: String, value: String)] = []
    /// What the feature refers to now.
    var parents: [RelatedRecords.Parent] = []
    /// Fields that were filled for the user, with where the value comes from.
    var filled: [String: String] = [:]
    /// The field whose value is looked for while the form is open, and the address at which the page gets it.
    var awaited: (field: String, from: String)?
    /// Whether the feature was there before: others may change it while its form is open.
    var isKnown = false
    /// Where the map shows it; that of its owner for a related record.
    var marked: MarkedPlace?
}

/// Shows forms, answers while one types, and reads what was posted. Forms for known features, new ones and related records
/// are the same.
struct FormPages: Sendable {
    let pages: PageRenderer

    static let relationPrefix = "relation."

    /// What came of reading a posted form.
    struct Reading: Sendable {
        let session: FormSession
        var problems: [FormSession.Problem]
        /// Records that were chosen and differ from those of before, by relationship.
        var chosen: [(info: RelationshipInfo, record: FoundFeature)]
        var photos = PhotoEdits()
        /// Controls whose value others changed while another one was put in.
        var overtaken: Set<String> = []

        var isChanged: Bool { session.hasEdits || !chosen.isEmpty || !photos.isEmpty }
    }

    // MARK: Showing

    /// The form's page. A draft of it is shown where there is one and nothing was posted.
    func page(
        _ subject: FormSubject, posted: FormValues?, reading: Reading?, request: Request, map: OpenMap
    ) async throws -> Response {
        let draft = posted == nil ? map.drafts.draft(subject.address) : nil
        let typed = posted ?? draft?.form
        let read: Reading
        if let reading {
            read = reading
        } else if let typed {
            read = try await self.read(typed, subject: subject, map: map)
        } else {
            read = Reading(session: try await .open(subject.feature, layer: subject.layer), problems: [], chosen: [])
        }
        var session = read.session
        // A form that is opened doesn't complain before something was done in it.
        if reading == nil { session.forgetProblems() }
        let problems = reading == nil ? [] : read.problems
        let values = typed.map(Self.touched)
        let photos = try await PhotoViews(pages: pages, map: map).section(subject, values: values, problems: problems)
        let controls = FormControls(
            session: session, posted: values, filled: subject.filled, awaited: subject.awaited?.field)
        let panel = EditPanel(
            heading: subject.heading, subheading: subject.subheading, action: subject.action,
            address: subject.address, session: posted?["session"] ?? UUID().uuidString,
            hidden: subject.hidden.map { HiddenValue(name: $0.name, value: $0.value) },
            base: base(subject, read, typed: typed, decides: reading != nil),
            seen: posted?[DraftStore.Draft.seenName] ?? String(draft?.revision ?? 0),
            problems: Self.summary(problems),
            parents: parents(subject, values: values, problems: problems, map: map), elements: controls.views,
            fill: subject.awaited.map { EditPanel.Fill(field: AttributeForm.prefix + $0.field, from: $0.from) },
            unsupported: Self.unsupported(session), photos: photos,
            draft: draft.map {
                EditPanel.Draft(
                    time: Self.clock($0.date), isOld: -$0.date.timeIntervalSinceNow > Limits.freshDraftSeconds)
            })
        return try await pages.respond(
            PageRenderer.Panel(
                panel, kind: "wide", tab: "map", title: subject.heading, marked: subject.marked,
                status: problems.isEmpty ? .ok : .unprocessableContent),
            to: request, map: map)
    }

    /// Without the values that nobody touched: in their place the present ones are shown.
    private static func touched(_ posted: FormValues) -> FormValues {
        let base = FormBase(posted)
        return FormValues(
            pairs: posted.pairs.filter { base.isSame($0.name, $0.value) != true }, files: posted.files)
    }

    /// What the controls of a known feature's form show, for the next time that it is posted.
    /// - Parameter decides: whether the page tells what others changed: saved again, what was put in stands.
    private func base(_ subject: FormSubject, _ read: Reading, typed: FormValues?, decides: Bool) -> String? {
        guard subject.isKnown else { return nil }
        let before = FormBase(typed)
        var shown = read.session.opened.map { (AttributeForm.prefix + $0.key, $0.value) }
        shown += subject.parents.map {
            (Self.relationPrefix + String($0.info.id), $0.record?.reference.text ?? "")
        }
        var base = FormBase()
        for (name, text) in shown {
            let isTouched = typed?[name].flatMap { before.isSame(name, $0) } == false
            if isTouched, !(decides && read.overtaken.contains(name)) {
                base.take(name, from: before)
            } else {
                base.set(name, shows: text)
            }
        }
        return base.text
    }

    private static func summary(_ problems: [FormSession.Problem]) -> EditPanel.Problems? {
        guard !problems.isEmpty else { return nil }
        return EditPanel.Problems(
            count: problems.count == 1
                ? "One value needs your attention." : "\(problems.count) values need your attention.",
            list: problems.map { EditPanel.Problem(name: $0.field, label: $0.label, text: $0.text) })
    }

    /// What the form's expressions could not answer, by the names of the elements that they stand with.
    private static func unsupported(_ session: FormSession) -> String? {
        func list(_ names: [String]) -> String { Set(names).sorted().joined(separator: ", ") }
        var sentences: [String] = []
        if !session.missing.isEmpty {
            sentences.append("Not calculated, since the data isn't on this device now: \(list(session.missing)).")
        }
        if !session.unsupported.isEmpty {
            sentences.append(
                "This form calculates something that can't be calculated here: \(list(session.unsupported)).")
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    static func clock(_ date: Date) -> String {
        let parts = Calendar(identifier: .gregorian).dateComponents([.hour, .minute], from: date)
        return [parts.hour, parts.minute].map { ($0 ?? 0) < 10 ? "0\($0 ?? 0)" : "\($0 ?? 0)" }.joined(separator: ":")
    }

    /// One row for each record that the feature refers to, which leads to the list of those that may be chosen.
    private func parents(
        _ subject: FormSubject, values: FormValues?, problems: [FormSession.Problem], map: OpenMap
    ) -> [EditPanel.Parent] {
        subject.parents.map { parent in
            let name = Self.relationPrefix + String(parent.info.id)
            let chosen = values?[name].flatMap { FeatureReference(text: $0) }
            let current = parent.record?.reference
            let feature = chosen.flatMap { map.rememberedFeature($0) } ?? (chosen == nil ? parent.record?.feature : nil)
            let (first, second) = DisplayedValues.lines(of: feature, in: parent.layer, without: "None chosen")
            return EditPanel.Parent(
                field: name, relation: parent.info.id, name: parent.name, value: (chosen ?? current)?.text ?? "",
                first: first, second: second, required: parent.info.isComposite,
                message: problems.first { $0.field == name }?.text,
                recents: recents(parent, subject: subject, map: map))
        }
    }

    private func place(_ parent: RelatedRecords.Parent, subject: FormSubject, map: OpenMap) -> String {
        "\(map.key) \(subject.layer.id) \(parent.info.id)"
    }

    /// The records that were chosen last, as buttons: one tap instead of a page.
    private func recents(
        _ parent: RelatedRecords.Parent, subject: FormSubject, map: OpenMap
    ) -> [EditPanel.Recent] {
        pages.workspace.settings.recentRecords(place(parent, subject: subject, map: map)).map { recent in
            EditPanel.Recent(value: "\(parent.info.id):\(recent.record.text)", text: recent.text)
        }
    }

    /// Takes over a record that was picked by its button.
    private func pick(_ posted: FormValues, subject: FormSubject, map: OpenMap) async throws -> Response? {
        guard let picked = posted["pick"]?.split(separator: ":", maxSplits: 1).map(String.init) else { return nil }
        guard picked.count == 2, let reference = FeatureReference(text: picked[1]),
            let parent = subject.parents.first(where: { String($0.info.id) == picked[0] }),
            parent.layer.id == reference.layer
        else { throw CollectError(.badForm, "This record can't be chosen.") }
        // Remembered, so that the form shows what it is called.
        _ = try await map.find(reference)
        let name = Self.relationPrefix + picked[0]
        let pairs = posted.pairs.filter { $0.name != name && $0.name != "pick" } + [(name, reference.text)]
        try map.drafts.keep(FormValues(pairs: pairs), of: subject.address, title: subject.draftTitle)
        return PageRenderer.redirect(subject.address)
    }

    /// What was chosen in a saved form is offered first in the next.
    func remember(_ reading: Reading, subject: FormSubject, map: OpenMap) {
        pages.workspace.settings.rememberSize(of: reading.photos)
        for (info, record) in reading.chosen {
            guard let parent = subject.parents.first(where: { $0.info.id == info.id }) else { continue }
            let shown = DisplayedValues(layer: record.layer, feature: record.feature).values.first?.text
            pages.workspace.settings.rememberRecord(
                .init(record: record.reference, text: shown ?? parent.name),
                at: place(parent, subject: subject, map: map))
        }
    }

    // MARK: Reading

    /// Reads a posted form into the subject's feature; nothing is saved.
    func read(_ posted: FormValues, subject: FormSubject, map: OpenMap) async throws -> Reading {
        var session = try await FormSession.open(subject.feature, layer: subject.layer)
        var problems: [FormSession.Problem] = []
        var chosen: [(info: RelationshipInfo, record: FoundFeature)] = []
        let base = FormBase(posted)
        var overtaken: Set<String> = []
        for parent in subject.parents {
            let name = Self.relationPrefix + String(parent.info.id)
            let text = posted[name] ?? ""
            let reference = FeatureReference(text: text)
            let present = parent.record?.reference
            if let reference, reference != present, base.isSame(name, text) != true {
                if base.isSame(name, present?.text ?? "") == false {
                    overtaken.insert(name)
                    let now = parent.record.map { FeatureTitle(layer: $0.layer, feature: $0.feature).title } ?? ""
                    problems.append(.init(field: name, label: parent.name, text: FormSession.changed(to: now)))
                    continue
                }
                guard reference.layer == parent.layer.id else {
                    throw CollectError(.badForm, "The record isn't one of \(parent.name).")
                }
                let record = try await map.find(reference)
                if let other = record.feature as? ArcGISFeature {
                    try session.feature.relate(to: other, using: parent.info)
                }
                chosen.append((parent.info, record))
            } else if reference == nil, parent.record == nil, parent.info.isComposite {
                problems.append(.init(field: name, label: parent.name, text: "Choose one."))
            }
        }
        try await session.apply(posted)
        let photos = self.photos(posted, subject: subject, map: map)
        return Reading(
            session: session, problems: session.problems + problems + photos.problems, chosen: chosen, photos: photos,
            overtaken: overtaken.union(session.overtaken.map { AttributeForm.prefix + $0 }))
    }

    private func photos(_ posted: FormValues, subject: FormSubject, map: OpenMap) -> PhotoEdits {
        guard subject.layer.hasPhotos else { return PhotoEdits() }
        let draft = DraftStore.id(of: subject.address)
        return PhotoEdits(
            map.drafts.photos.photos(of: draft), draft: draft, posted: posted,
            preferred: pages.workspace.settings.photoSize)
    }

    /// Keeps the files of a posted form on this device, before anything else is done with it.
    private func stage(_ posted: FormValues, subject: FormSubject, map: OpenMap) throws {
        guard !posted.files.isEmpty else { return }
        guard subject.layer.hasPhotos else {
            throw CollectError(.notAllowed, "\(subject.layer.name) has no photos and files.")
        }
        let draft = try map.drafts.keep(posted, of: subject.address, title: subject.draftTitle)
        let title = FeatureTitle(layer: subject.layer, feature: subject.feature).title
        for file in posted.files where !file.data.isEmpty {
            let count = map.drafts.photos.photos(of: draft.id).count
            try map.drafts.photos.add(
                file.data, name: PhotoViews.name(file, title: title, number: count + 1), claimed: file.contentType,
                to: draft.id)
        }
    }

    /// Begins to save a form that makes a feature. The feature is given the id under which it is known again when the
    /// process ends before it says so.
    /// - Returns: the feature that an earlier saving of the same form made; nil where there is none.
    func beginCreating(_ posted: FormValues, subject: FormSubject, map: OpenMap) async throws -> FoundFeature? {
        let (identity, isAgain) = try map.drafts.beginSaving(
            posted, of: subject.address, title: subject.draftTitle)
        guard !subject.layer.globalIDField.isEmpty else { return nil }
        if isAgain, let found = try? await map.find(FeatureReference(layer: subject.layer.id, key: .global(identity))) {
            return found
        }
        subject.feature.setAttributeValue(identity, forKey: subject.layer.globalIDField)
        return nil
    }

    /// Saves a form that makes a feature: as that feature's change, where an earlier saving made it already.
    func create(
        _ posted: FormValues, subject: FormSubject, reading: Reading, map: OpenMap
    ) async throws -> EditEntry {
        guard let made = try await beginCreating(posted, subject: subject, map: map) else {
            return try await map.create(
                subject.feature, in: subject.layer, session: posted["session"], photos: reading.photos)
        }
        var again = subject
        again.feature = made.feature
        let reading = try await read(posted, subject: again, map: map)
        return try await map.update(
            made, kind: .update, before: reading.session.before, session: posted["session"],
            detail: reading.session.changes.joined(separator: ", "), photos: reading.photos)
    }

    // MARK: While one types

    private struct Check: Encodable {
        var saved: String
        var messages: [String: String] = [:]
        var hidden: [String] = []
        var fixed: [String: String] = [:]
        /// Whether the controls themselves are others now.
        var again = false
    }

    /// Keeps the draft and says what is wrong, hidden or calculated now.
    func check(_ posted: FormValues, subject: FormSubject, map: OpenMap) async throws -> Response {
        let draft = try map.drafts.keep(posted, of: subject.address, title: subject.draftTitle)
        let reading = try await read(posted, subject: subject, map: map)
        var check = Check(saved: Self.clock(draft.date))
        for problem in reading.problems { check.messages[problem.field] = problem.text }
        for (index, element) in reading.session.form.elements.enumerated() where !element.isVisible {
            check.hidden.append((element as? FieldFormElement)?.fieldName ?? "element-\(index)")
        }
        for element in reading.session.fieldElements {
            if !element.isVisible { check.hidden.append(element.fieldName) }
            let isPosted = posted[AttributeForm.prefix + element.fieldName] != nil
            if element.isEditable != isPosted { check.again = true }
            if !element.isEditable {
                let text = element.formattedValue
                check.fixed[element.fieldName] = text.isEmpty ? FieldText.nothing : text
            }
        }
        return try pages.json(check)
    }

    /// What a posted form asks for besides saving: nil when it is to be saved.
    func detour(
        _ posted: FormValues, subject: FormSubject, request: Request, map: OpenMap
    ) async throws -> Response? {
        try stage(posted, subject: subject, map: map)
        if posted["stage"] != nil {
            try map.drafts.keep(posted, of: subject.address, title: subject.draftTitle)
            return PageRenderer.redirect(subject.address)
        }
        if let picked = try await pick(posted, subject: subject, map: map) { return picked }
        if request.headers[.fragment] == "check" { return try await check(posted, subject: subject, map: map) }
        if posted["cancel"] != nil {
            let draft = try map.drafts.discard(subject.address)
            let mark = draft.map { (subject.back.contains("?") ? "&" : "?") + "discarded=\($0.id)" } ?? ""
            return PageRenderer.redirect(subject.back + mark)
        }
        if let relation = posted["choose"].flatMap({ Int($0) }),
            subject.parents.contains(where: { $0.info.id == relation })
        {
            try map.drafts.keep(posted, of: subject.address, title: subject.draftTitle)
            return PageRenderer.redirect(
                "/choose/\(subject.layer.id)/\(relation)?for=\(ChooseRoutes.escaped(subject.address))")
        }
        return nil
    }
}

extension FormSubject {
    var draftTitle: String { subheading.isEmpty ? heading : "\(heading): \(subheading)" }
}

extension FeatureReference {
    /// Reads `{layer}/{key}`.
    init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        self.init(layer: parts[0], key: parts[1])
    }
}
