import FieldworkGeometry

extension ServiceView {
    /// The service as the view shows it. Its layers have the view's condition as their restriction; a layer that can't be shown as the
    /// view means it (its condition names a field that is gone) is left out.
    package func definition(of source: ServiceDefinition) -> ServiceDefinition {
        var shown = source
        shown.name = name
        if !description.isEmpty { shown.description = description }
        shown.capabilities = Self.allowed(capabilities ?? source.capabilities, by: source.capabilities)
        shown.layers = source.layers.compactMap { layer in self.layer(layer.id).flatMap { $0.definition(of: layer) } }
        let parts = shown.layers
        for index in shown.layers.indices {
            shown.layers[index].relationships = relationships(of: parts[index], among: parts)
            let allowed = shown.capabilities
            shown.layers[index].capabilities = Self.allowed(shown.layers[index].capabilities, by: allowed)
        }
        if shown.layers.count < source.layers.count {
            // Their scripts may ask for layers that are not shown. They run in the source all the same.
            for index in shown.layers.indices { shown.layers[index].attributeRules = [] }
        }
        shown.unknownMembers["isView"] = true
        if shown.layers.contains(where: { $0.restriction != nil }) {
            // Where the features lie that are not shown is nobody's business.
            (shown.fullExtent, shown.initialExtent) = (nil, nil)
        }
        let hidden = source.layers.flatMap { layer in self.layer(layer.id)?.hidden(in: layer) ?? layer.fields }
        for member in shown.unknownMembers.members where HiddenNames(hidden).areMentioned(in: member.value) {
            shown.unknownMembers[member.key] = nil
        }
        return shown
    }

    /// A view that has no layers yet.
    package var emptyDefinition: ServiceDefinition {
        ServiceDefinition(name: name, description: description, capabilities: [.query], layers: [])
    }

    /// What both allow. `Editing` alone stands for the three verbs, and must not become them by losing one.
    static func allowed(_ wanted: Set<Capability>, by source: Set<Capability>) -> Set<Capability> {
        var allowed = spelledOut(wanted).intersection(spelledOut(source))
        if allowed.isDisjoint(with: verbs) { allowed.remove(.editing) }
        return allowed
    }

    private static let verbs: Set<Capability> = [.create, .update, .delete]

    private static func spelledOut(_ capabilities: Set<Capability>) -> Set<Capability> {
        guard capabilities.contains(.editing), capabilities.isDisjoint(with: verbs) else { return capabilities }
        return capabilities.union(verbs)
    }

    /// Those whose other side is shown, with the keys of both.
    private func relationships(
        of layer: LayerDefinition, among layers: [LayerDefinition]
    ) -> [RelationshipDefinition] {
        layer.relationships.filter { relationship in
            guard layer.field(named: relationship.keyField) != nil,
                let other = layers.first(where: { $0.id == relationship.relatedTableID })
            else { return false }
            let otherEnd = other.relationships.first { $0.id == relationship.id && $0.relatedTableID == layer.id }
            if let otherEnd, other.field(named: otherEnd.keyField) == nil { return false }
            guard let tableID = relationship.relationshipTableID else { return true }
            guard let table = layers.first(where: { $0.id == tableID }) else { return false }
            return [relationship.keyFieldInRelationshipTable, otherEnd?.keyFieldInRelationshipTable]
                .compactMap(\.self).allSatisfy { table.field(named: $0) != nil }
        }
    }
}

extension ViewLayer {
    /// nil when the layer can't be shown as the view means it.
    fileprivate func definition(of source: LayerDefinition) -> LayerDefinition? {
        var shown = source
        do throws(ServiceError) {
            for condition in [source.restriction, try source.definitionCondition(), try self.condition(in: source)] {
                guard let condition else { continue }
                shown.restriction =
                    shown.restriction.map { known in
                        known == condition ? known : .binary(.and, known, condition)
                    } ?? condition
            }
        } catch {
            return nil
        }
        for member in LayerDefinition.conditionMembers { shown.unknownMembers[member] = nil }
        if shown.restriction != nil { shown.extent = nil }
        if let name { shown.name = name }
        shown.unknownMembers["isView"] = true
        let hidden = hidden(in: source)
        if !hidden.isEmpty { shown.hide(hidden) }
        if let drawingInfo { shown.drawingInfo = drawingInfo }
        // Who may see what is told by the creator's name: a layer that hides it would show everything to everybody.
        if source.ownershipAccess != nil, shown.editFields?.creatorField == nil { return nil }
        return shown
    }
}

extension LayerDefinition {
    /// Takes out fields with all that names them.
    fileprivate mutating func hide(_ hidden: [FieldDefinition]) {
        let names = HiddenNames(hidden)
        fields.removeAll { names.contains($0.name) }
        if displayField.map(names.contains) == true { displayField = nil }
        hideKinds(names)
        fieldGroups.removeAll { $0.fields.contains(where: names.contains) }
        // They run in the source all the same.
        attributeRules = []
        editFields = editFields.map { tracked in
            func shown(_ name: String?) -> String? { name.flatMap { names.contains($0) ? nil : $0 } }
            var tracked = tracked
            tracked.creatorField = shown(tracked.creatorField)
            tracked.creationDateField = shown(tracked.creationDateField)
            tracked.editorField = shown(tracked.editorField)
            tracked.editDateField = shown(tracked.editDateField)
            return tracked
        }
        if drawingInfo.map({ names.areMentioned(in: $0, keys: false) }) == true { drawingInfo = nil }
        for member in unknownMembers.members where names.areMentioned(in: member.value) {
            unknownMembers[member.key] = nil
        }
        // A new feature would lack what nobody who uses the view can give it.
        if hidden.contains(where: { !$0.isNullable && $0.defaultValue == .null && !trackedFields.contains($0.name) }) {
            capabilities = ServiceView.allowed(capabilities, by: Set(Capability.allCases).subtracting([.create]))
        }
    }

    private mutating func hideKinds(_ names: HiddenNames) {
        if typeIDField.map(names.contains) == true { (typeIDField, types) = (nil, []) }
        if subtypeField.map(names.contains) == true {
            (subtypeField, subtypes, defaultSubtypeCode) = (nil, [], .null)
        }
        for index in types.indices {
            types[index].domains = types[index].domains.filter { !names.contains($0.key) }
            types[index].templates = types[index].templates.map(names.without)
            for member in types[index].unknownMembers.members where names.areMentioned(in: member.value) {
                types[index].unknownMembers[member.key] = nil
            }
        }
        templates = templates.map(names.without)
        for index in subtypes.indices {
            subtypes[index].domains = subtypes[index].domains.filter { !names.contains($0.key) }
            subtypes[index].defaultValues = subtypes[index].defaultValues.filter { !names.contains($0.key) }
        }
    }
}

/// Names of fields that must not be told.
struct HiddenNames {
    private let names: Set<String>

    init(_ fields: [FieldDefinition]) { names = Set(fields.map { $0.name.lowercased() }) }

    func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }

    /// Whether a text has one among its words: in an expression, in a label.
    /// - Parameter keys: whether the names of members count as well, which may be words of the protocol.
    func areMentioned(in json: JSONValue, keys: Bool = true) -> Bool {
        if let text = json.stringValue { return areMentioned(inText: text) }
        if let values = json.arrayValue { return values.contains { areMentioned(in: $0, keys: keys) } }
        guard let members = json.objectValue?.members else { return false }
        return members.contains { (keys && contains($0.key)) || areMentioned(in: $0.value, keys: keys) }
    }

    private func areMentioned(inText text: String) -> Bool {
        text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { names.contains(String($0)) }
    }

    func without(_ template: FeatureTemplateDefinition) -> FeatureTemplateDefinition {
        var template = template
        template.attributes = template.attributes.filter { !contains($0.key) }
        for member in template.unknownMembers.members where areMentioned(in: member.value) {
            template.unknownMembers[member.key] = nil
        }
        for member in template.unknownPrototypeMembers.members where areMentioned(in: member.value) {
            template.unknownPrototypeMembers[member.key] = nil
        }
        return template
    }
}
