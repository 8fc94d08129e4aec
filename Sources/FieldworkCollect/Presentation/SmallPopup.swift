import Fieldwork

/// The two sides of the small pop-up, as the seed fills them.
///
/// Left: the first two values of the topmost record that the feature refers to; without one, the feature's own first two.
/// Right: how many records of the topmost table refer to the feature; without such a table, the feature's next own value.
struct SmallPopup {
    let upper: String
    let lower: String
    /// The own value on the right.
    let aside: SelectionView.Aside?
    /// The number of records on the right, and where one can be added.
    let count: SelectionView.Count?
    let announcement: String

    init(found: FoundFeature, related: RelatedRecords?, shown: DisplayedValues, title: FeatureTitle) {
        // Where nobody has made a pop-up, the title takes the place of the first value.
        var own =
            found.layer.popup == nil
            ? [] : shown.values.filter { !$0.isMissing }.map { (label: $0.label, text: $0.text) }
        if let record = related?.parents.first?.record {
            let values = DisplayedValues(layer: record.layer, feature: record.feature).values
            upper = values.first?.text ?? FieldText.nothing
            lower = values.dropFirst().first?.text ?? ""
        } else if found.layer.popup == nil {
            upper = title.title
            lower = title.subtitle.isEmpty ? title.id : title.subtitle
            if let next = title.aside { own = [(next.label, next.value)] }
        } else {
            upper = own.first?.text ?? FieldText.nothing
            lower = own.dropFirst().first?.text ?? ""
            own.removeFirst(min(2, own.count))
        }
        var spoken = [upper, lower, title.title == upper ? "" : title.title].filter { !$0.isEmpty }
        if let children = related?.children.first {
            let number = children.records.count
            count = SelectionView.Count(
                value: number, label: children.name,
                add: children.canAdd ? "\(found.reference.address)/related/\(children.info.id)/new" : nil,
                addLabel: "Add \(children.layer.noun)")
            aside = nil
            spoken.append(FieldText.count(number, children.layer.noun))
        } else {
            count = nil
            aside = own.first.map { SelectionView.Aside(label: $0.label, value: $0.text) }
        }
        if found.layer.popup == nil { spoken.append(title.id) }
        announcement = "Selected: \(spoken.joined(separator: ", "))."
    }
}
