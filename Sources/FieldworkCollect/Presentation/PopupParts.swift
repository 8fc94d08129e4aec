import Fieldwork
import Foundation

/// The parts of a pop-up view, in the author's order: texts, values, media, related records.
struct PopupParts {
    typealias Part = FeaturePanel.Part

    let found: FoundFeature
    let related: RelatedRecords?
    let views: FeatureViews

    /// - Parameter popup: evaluated; nil where nobody has made one.
    func parts(of popup: Popup?) -> [Part] {
        var parts: [Part] = []
        var shown: Set<Int> = []
        if let popup {
            for element in popup.evaluatedElements { parts += self.parts(of: element, shown: &shown) }
        } else {
            parts.append(Part(facts: plainFacts))
        }
        // The seed shows the records of every relationship, whether the author names it or not.
        for parent in related?.parents ?? [] where !shown.contains(parent.info.id) {
            parts.append(Part(parent: self.parent(parent)))
        }
        for children in related?.children ?? [] where !shown.contains(children.info.id) {
            let rows = self.children(children, title: children.name, limit: Limits.relatedRows)
            parts.append(Part(children: rows))
        }
        if related == nil {
            parts.append(
                Part(
                    note: FeaturePanel.Note(
                        text: "The related records didn't load: the server doesn't answer.", again: true)))
        }
        return parts
    }

    private func parts(of element: PopupElement, shown: inout Set<Int>) -> [Part] {
        switch element {
        case let element as FieldsPopupElement: return [Part(facts: facts(element))]
        case let element as TextPopupElement:
            let html = AuthoredText(element.text).html
            return html.isEmpty ? [] : [Part(html: Markup(html: html))]
        case let element as MediaPopupElement: return element.media.compactMap(media).map { Part(media: $0) }
        case let element as RelationshipPopupElement:
            shown.insert(element.relationshipID)
            let title = element.title
            if let parent = related?.parent(element.relationshipID) {
                return [Part(parent: self.parent(parent, title: title))]
            }
            guard let children = related?.children(element.relationshipID) else { return [] }
            let rows = self.children(
                children, title: title.isEmpty ? children.name : title, limit: max(1, element.displayCount))
            return [Part(children: rows)]
        case let element as ExpressionPopupElement:
            let name = element.title.isEmpty ? element.expression.name : element.title
            var (why, isLater) = ("its expression can't be evaluated here.", false)
            if case ExpressionError.dataUnavailable? = element.error as? ExpressionError {
                (why, isLater) = ("it needs data that isn't on this device now.", true)
            }
            return [Part(note: FeaturePanel.Note(text: "\(name) isn't shown: \(why)", again: isLater))]
        default: return []
        }
    }

    // MARK: Values

    private func facts(_ element: FieldsPopupElement) -> FeaturePanel.Facts {
        let facts = zip(element.fields, zip(element.labels, element.formattedValues)).map { field, texts in
            let column = found.layer.field(named: field.fieldName)
            let raw = column.flatMap { found.feature.attributeValue(forKey: $0.name) }
            return fact(label: texts.0, shown: texts.1.isEmpty ? FieldText.nothing : texts.1, field: column, raw: raw)
        }
        return FeaturePanel.Facts(title: element.title.isEmpty ? nil : element.title, list: facts)
    }

    private var plainFacts: FeaturePanel.Facts {
        let text = FieldText(layer: found.layer)
        let fields = found.layer.fields.filter(AttributeForm.isShown)
        let telling = fields.filter { FeatureTitle.isTelling($0, of: found.layer) }
        let others = fields.filter { !FeatureTitle.isTelling($0, of: found.layer) }
        let facts = (telling + others).map { field in
            fact(
                label: AttributeForm.label(field), shown: text.text(field.name, of: found.feature), field: field,
                raw: found.feature.attributeValue(forKey: field.name))
        }
        return FeaturePanel.Facts(title: nil, list: facts)
    }

    private func fact(
        label: String, shown: String, field: Field?, raw: (any Sendable)?
    ) -> FeaturePanel.Facts.Fact {
        let code = FieldText(layer: found.layer).code(raw, shown: shown)
        // A code in the tooltip tells something only where a name stands for it.
        let isCoded = field.map { $0.domain is CodedValueDomain } ?? false
        return FeaturePanel.Facts.Fact(
            label: label, value: shown, wide: shown.count > 28,
            code: isCoded || found.layer.popup == nil ? code : nil, link: Self.link(shown),
            folds: shown.count > Limits.foldedCharacters,
            symbol: field.flatMap { found.layer.symbology.swatch(field: $0.name, value: raw) }?.view())
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
    private func media(_ media: PopupMedia) -> FeaturePanel.Media? {
        guard let value = media.value else { return nil }
        let rows = zip(value.labels, value.data).map { label, number in
            FeaturePanel.Media.Row(
                label: label, value: Symbology.number(number).map(FieldText.number) ?? "\(number)")
        }
        let address = (value.linkURL ?? value.sourceURL).flatMap { url in
            ["http", "https"].contains(url.scheme?.lowercased() ?? "") ? url.absoluteString : nil
        }
        guard !rows.isEmpty || address != nil else { return nil }
        return FeaturePanel.Media(
            title: [media.title, media.alternativeText, "Picture"].first { !$0.isEmpty } ?? "",
            caption: media.caption.isEmpty ? nil : media.caption, rows: rows, hasRows: !rows.isEmpty, address: address)
    }

    // MARK: Related records

    private func parent(_ parent: RelatedRecords.Parent, title: String = "") -> FeaturePanel.Parent {
        let (first, second) = DisplayedValues.lines(
            of: parent.record?.feature, in: parent.layer, without: FieldText.nothing)
        return FeaturePanel.Parent(
            name: title.isEmpty ? parent.name : title, first: first, second: second,
            address: parent.record?.reference.address)
    }

    private func children(_ children: RelatedRecords.Children, title: String, limit: Int) -> RelatedView {
        views.related(children, of: found.reference, title: title, limit: limit)
    }
}
