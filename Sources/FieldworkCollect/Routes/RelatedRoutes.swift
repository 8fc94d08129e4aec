import Fieldwork
import Foundation
import HTTPTypes
import Hummingbird

/// The records that refer to a feature: their list, and a new one.
struct RelatedRoutes: Sendable {
    let pages: PageRenderer
    let edits: EditRoutes
    var workspace: Workspace { pages.workspace }
    private var forms: FormPages { FormPages(pages: pages) }

    func add(to router: Router<CollectContext>) {
        let related = router.group("f/:layer/:key/related/:relation")
        related.get { request, context in try await list(request, context) }
        related.get("new") { request, context in
            let map = try await workspace.map()
            let (owner, children) = try await children(context, map: map)
            return try await forms.page(
                try await subject(owner, children, map: map), posted: nil, reading: nil, request: request, map: map)
        }
        related.post("new") { request, context in try await create(request, context) }
    }

    private func children(
        _ context: CollectContext, map: OpenMap
    ) async throws -> (owner: FoundFeature, children: RelatedRecords.Children) {
        let owner = try await map.find(try context.reference())
        guard let id = context.parameters.get("relation").flatMap({ Int($0) }),
            let children = try await map.related(to: owner).children(id)
        else { throw CollectError(.notFound, "There is no such list of records.") }
        return (owner, children)
    }

    private func list(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let (owner, children) = try await children(context, map: map)
        let title = FeatureTitle(layer: owner.layer, feature: owner.feature).title
        let related = FeatureViews(map: map).related(children, of: owner.reference, title: children.name)
        return try await pages.respond(
            PageRenderer.Panel(
                RelatedListPanel(
                    heading: children.name, subheading: title, back: owner.reference.address, related: related),
                kind: "side", tab: "map", title: "\(children.name) of \(title)", marked: MarkedPlace(owner)),
            to: request, map: map)
    }

    // MARK: A new record

    /// A record that refers to its owner already; the moment is now, and values that the newest record has too are taken
    /// over from it and marked until they are touched.
    private func subject(
        _ owner: FoundFeature, _ children: RelatedRecords.Children, map: OpenMap
    ) async throws -> FormSubject {
        let layer = children.layer
        guard layer.isAddable, let parent = owner.feature as? ArcGISFeature, let kind = layer.kinds.first,
            let record = layer.make(kind, geometry: nil) as? ArcGISFeature
        else { throw CollectError(.notAllowed, "\(layer.name) doesn't let you add.") }
        try parent.relate(to: record, using: children.info)
        let address = "\(owner.reference.address)/related/\(children.info.id)/new"
        let title = FeatureTitle(layer: owner.layer, feature: owner.feature).title
        return FormSubject(
            layer: layer, feature: record, address: address, action: address, back: owner.reference.address,
            heading: "New \(layer.noun)", subheading: "\(layer.noun.capitalized) of \(title)",
            filled: prefill(record, from: children), marked: MarkedPlace(owner))
    }

    private func prefill(_ record: ArcGISFeature, from children: RelatedRecords.Children) -> [String: String] {
        let layer = children.layer
        var filled: [String: String] = [:]
        let fields = layer.listedFields.isEmpty ? layer.fields : layer.listedFields
        if let moment = fields.first(where: { $0.type == .date && $0.isEditable }) {
            record.setAttributeValue(Date(), forKey: moment.name)
            filled[moment.name] = "now"
        }
        guard let newest = children.records.first else { return filled }
        let when = DisplayedValues(layer: layer, feature: newest.feature).values.first { $0.field.type == .date }?.text
        let domainsAndNumbers = fields.filter { field in
            guard field.isEditable, record.attributeValue(forKey: field.name) == nil else { return false }
            return field.domain is CodedValueDomain || [.float32, .float64, .int16, .int32].contains(field.type)
        }
        for field in domainsAndNumbers {
            guard let value = newest.feature.attributeValue(forKey: field.name) else { continue }
            record.setAttributeValue(value, forKey: field.name)
            filled[field.name] = when.map { "from \($0)" } ?? "from the last one"
        }
        return filled
    }

    private enum Outcome: Sendable {
        case saved(EditEntry)
        case wrong(FormSubject, FormPages.Reading)
    }

    private func create(_ request: Request, _ context: CollectContext) async throws -> Response {
        let map = try await workspace.map()
        let form = try await FormValues.read(request)
        let (owner, children) = try await children(context, map: map)
        if let known = map.journal.entry(session: form["session"]) { return answer(known, owner: owner) }
        let subject = try await subject(owner, children, map: map)
        if let detour = try await forms.detour(form, subject: subject, request: request, map: map) { return detour }
        let outcome = try await workspace.oneByOne { () -> Outcome in
            let reading = try await forms.read(form, subject: subject, map: map)
            guard reading.problems.isEmpty else { return .wrong(subject, reading) }
            let entry = try await forms.create(form, subject: subject, reading: reading, map: map)
            forms.remember(reading, subject: subject, map: map)
            return .saved(entry)
        }
        switch outcome {
        case .wrong(let subject, let reading):
            try map.drafts.keep(form, of: subject.address, title: subject.draftTitle)
            return try await forms.page(subject, posted: form, reading: reading, request: request, map: map)
        case .saved(let entry):
            map.drafts.remove(subject.address)
            _ = await edits.sent(entry, map: map)
            return answer(map.journal.entry(id: entry.id) ?? entry, owner: owner)
        }
    }

    /// Back to the owner, with the new row first.
    private func answer(_ entry: EditEntry, owner: FoundFeature) -> Response {
        PageRenderer.redirect("\(owner.reference.address)?edit=\(entry.id.uuidString.lowercased())")
    }
}
