import Fieldwork
import Foundation

/// The parts of a pop-up view, in the author's order: texts, values, media, related records. Each part names its own kind and
/// denies the others, so that a template never reads a part of another.
struct PopupParts {
    let found: FoundFeature
    let related: RelatedRecords?
    let views: FeatureViews

    private static let kinds = ["facts", "html", "parent", "children", "media", "note"]

    private static func part(_ kind: String, _ values: Values) -> Values {
        var part: Values = [:]
        for other in kinds { part[other] = false }
        part[kind] = values
        return part
    }

    /// - Parameter popup: evaluated; nil where nobody has made one.
    func values(of popup: Popup?) -> [Values] {
        var parts: [Values] = []
        var shown: Set<Int> = []
        if let popup {
            for element in popup.evaluatedElements { parts += self.parts(of: element, shown: &shown) }
        } else {
            parts.append(plainFacts)
        }
        // The seed shows the records of every relationship, whether the author names it or not.
        for parent in related?.parents ?? [] where !shown.contains(parent.info.id) { parts.append(self.parent(parent)) }
        for children in related?.children ?? [] where !shown.contains(children.info.id) {
            parts.append(self.children(children, title: children.name, limit: Limits.relatedRows))
        }
        if related == nil {
            parts.append(
                Self.part(
                    "note", ["text": "The related records didn't load: the server doesn't answer.", "again": true]))
        }
        return parts
    }

    private func parts(of element: PopupElement, shown: inout Set<Int>) -> [Values] {
        switch element {
        case let element as FieldsPopupElement: return [facts(element)]
        case let element as TextPopupElement:
            let html = AuthoredText(element.text).html
            return html.isEmpty ? [] : [Self.part("html", ["text": html])]
        case let element as MediaPopupElement: return element.media.compactMap(media)
        case let element as RelationshipPopupElement:
            shown.insert(element.relationshipID)
            let title = element.title
            if let parent = related?.parent(element.relationshipID) { return [self.parent(parent, title: title)] }
            guard let children = related?.children(element.relationshipID) else { return [] }
            return [
                self.children(
                    children, title: title.isEmpty ? children.name : title, limit: max(1, element.displayCount))
            ]
        case let element as ExpressionPopupElement:
            let name = element.title.isEmpty ? element.expression.name : element.title
            var (why, isLater) = ("its expression can't be evaluated here.", false)
            if case ExpressionError.dataUnavailable? = element.error as? ExpressionError {
                (why, isLater) = ("it needs data that isn't on this device now.", true)
            }
            return [Self.part("note", ["text": "\(name) isn't shown: \(why)", "again": isLater])]
        default: return []
        }
    }

    // MARK: Values

    private func facts(_ element: FieldsPopupElement) -> Values {
        let facts = zip(element.fields, zip(element.labels, element.formattedValues)).map { field, texts -> Values in
            let column = found.layer.field(named: field.fieldName)
            let raw = column.flatMap { found.feature.attributeValue(forKey: $0.name) }
            return fact(label: texts.0, shown: texts.1.isEmpty ? FieldText.nothing : texts.1, field: column, raw: raw)
        }
        return Self.part(
            "facts", ["title": element.title, "hasTitle": !element.title.isEmpty, "list": facts])
    }

    private var plainFacts: Values {
        let text = FieldText(layer: found.layer)
        let fields = found.layer.fields.filter(AttributeForm.isShown)
        let telling = fields.filter { FeatureTitle.isTelling($0, of: found.layer) }
        let others = fields.filter { !FeatureTitle.isTelling($0, of: found.layer) }
        let facts = (telling + others).map { field in
            fact(
                label: AttributeForm.label(field), shown: text.text(field.name, of: found.feature), field: field,
                raw: found.feature.attributeValue(forKey: field.name))
        }
        return Self.part("facts", ["title": "", "hasTitle": false, "list": facts])
    }

    private func fact(label: String, shown: String, field: Field?, raw: (any Sendable)?) -> Values {
        let code = FieldText(layer: found.layer).code(raw, shown: shown)
        // A code in the tooltip tells something only where a name stands for it.
        let isCoded = field.map { $0.domain is CodedValueDomain } ?? false
        return [
            "label": label, "value": shown, "wide": shown.count > 28,
            "code": isCoded || found.layer.popup == nil ? code.orFalse : false, "link": Self.link(shown).orFalse,
            "folds": shown.count > Limits.foldedCharacters,
            "symbol": field.flatMap { found.layer.symbology.swatch(field: $0.name, value: raw) }.map(\.values)
                .orFalse,
        ]
    }

    /// Addresses and mail become links.
    private static func link(_ text: String) -> String? {
        guard !text.contains(where: \.isWhitespace), text.count < 2_000 else { return nil }
        if let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased() ?? ""), url.host() != nil {
            return text
        }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let isMail = parts.count == 2 && !parts[0].isEmpty && parts[1].contains(".") && !text.contains(":")
        return isMail ? "mailto:\(text)" : nil
    }

    /// A chart as its numbers; a picture of another server as a link, since the page loads nothing from elsewhere.
    private func media(_ media: PopupMedia) -> Values? {
        guard let value = media.value else { return nil }
        let rows = zip(value.labels, value.data).map { label, number -> Values in
            ["label": label, "value": Symbology.number(number).map(FieldText.number) ?? "\(number)"]
        }
        let address = (value.linkURL ?? value.sourceURL).flatMap { url in
            ["http", "https"].contains(url.scheme?.lowercased() ?? "") ? url.absoluteString : nil
        }
        guard !rows.isEmpty || address != nil else { return nil }
        let title = [media.title, media.alternativeText, "Picture"].first { !$0.isEmpty } ?? ""
        return Self.part(
            "media",
            [
                "title": title, "caption": media.caption, "rows": rows, "hasRows": !rows.isEmpty,
                "address": address.orFalse,
            ])
    }

    // MARK: Related records

    private func parent(_ parent: RelatedRecords.Parent, title: String = "") -> Values {
        let (first, second) = DisplayedValues.lines(
            of: parent.record?.feature, in: parent.layer, without: FieldText.nothing)
        let name = title.isEmpty ? parent.name : title
        return Self.part(
            "parent",
            [
                "name": name, "first": first, "second": second,
                "address": parent.record.map(\.reference.address).orFalse,
            ])
    }

    private func children(_ children: RelatedRecords.Children, title: String, limit: Int) -> Values {
        let base = "\(found.reference.address)/related/\(children.info.id)"
        return Self.part(
            "children",
            [
                "name": title, "count": children.records.count, "relation": children.info.id,
                "rows": children.records.prefix(limit).map(views.related),
                "hasRows": !children.records.isEmpty, "noneText": "No \(title.lowercased()) yet.",
                "all": children.records.count > limit ? base : false,
                "allText": "All \(FieldText.count(children.records.count, children.layer.noun))",
                "add": children.canAdd ? "\(base)/new" : false, "addLabel": "Add \(children.layer.noun)",
            ])
    }
}
