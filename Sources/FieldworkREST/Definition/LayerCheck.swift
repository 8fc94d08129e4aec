import FieldworkGeometry

/// Looks for the problems of one layer or table of a definition document.
struct LayerCheck {
    let object: JSONObject
    let path: String
    let isTable: Bool
    /// All layers and tables of the document.
    let layers: [Int: JSONObject]
    var check: DefinitionCheck
    /// Types of the fields by lower-case name.
    private var fieldTypes: [String: FieldType] = [:]

    init(object: JSONObject, path: String, isTable: Bool, layers: [Int: JSONObject], check: DefinitionCheck) {
        self.object = object
        self.path = path
        self.isTable = isTable
        self.layers = layers
        self.check = check
    }

    mutating func run() {
        if object.string("name")?.isEmpty != false { report("name", "A layer needs a name.") }
        for key in ["description", "displayField"] + LayerDefinition.conditionMembers { expect(.string, key) }
        for key in ["hasZ", "hasM", "hasAttachments", "allowGeometryUpdates", "defaultVisibility"] {
            expect(.bool, key)
        }
        for key in ["types", "templates", "relationships", "indexes", "attributeRules"] { expect(.array, key) }
        for key in ["drawingInfo", "editFieldsInfo", "timeInfo"] { expect(.object, key) }
        check.checkCapabilities(object, path)
        check.checkRecordCount(object, path)
        checkGeometry()
        checkFields()
        checkFieldReferences()
        checkScales()
        checkTypes()
        checkTemplates(object.array("templates"), "templates")
        checkRelationships()
        checkDrawing()
        checkExpression()
        checkAttributeRules()
    }

    private mutating func report(_ key: String, _ message: String) { check.report("\(path).\(key)", message) }

    private mutating func expect(_ kind: DefinitionCheck.Kind, _ key: String) {
        check.expect(kind, key, in: object, path)
    }

    private mutating func checkGeometry() {
        if isTable {
            if let type = object["geometryType"], !type.isNull, type != "" {
                report("geometryType", "A table has no geometry.")
            }
            return
        }
        if object.string("type") == "Table" { report("type", "A table belongs under 'tables'.") }
        if object.string("geometryType").flatMap(LayerGeometryType.init(rawValue:)) == nil {
            report("geometryType", "A layer needs one of the protocol's geometry types.")
        }
        if let reference = object["spatialReference"], !reference.isNull {
            check.checkReference(reference, "\(path).spatialReference")
        } else if object["extent"]?["spatialReference"] == nil {
            report("spatialReference", "A layer needs a spatial reference.")
        }
    }

    // MARK: Fields

    private mutating func checkFields() {
        guard let fields = object["fields"]?.arrayValue, !fields.isEmpty else {
            return report("fields", "A layer needs fields.")
        }
        for (index, json) in fields.enumerated() {
            let place = "fields[\(index)]"
            let field: FieldDefinition
            do {
                field = try FieldDefinition(json: json)
            } catch {
                report(place, error.details.joined(separator: " "))
                continue
            }
            if fieldTypes.updateValue(field.type, forKey: field.name.lowercased()) != nil {
                report("\(place).name", "There is another field \(field.name).")
            }
            check.expect(.string, "alias", in: json.objectValue ?? JSONObject(), "\(path).\(place)")
            if let domain = field.domain { checkDomain(domain, of: field.type, "\(place).domain") }
            if !field.defaultValue.isNull, !Self.fits(field.defaultValue, field.type) {
                report("\(place).defaultValue", "The value does not fit the field's type.")
            }
        }
    }

    private mutating func checkDomain(_ domain: DomainDefinition, of type: FieldType, _ place: String) {
        switch domain.kind {
        case .inherited: break
        case .codedValues(let values):
            if values.isEmpty { report("\(place).codedValues", "A domain needs values.") }
            var codes: Set<AttributeValue> = []
            for (index, value) in values.enumerated() {
                let at = "\(place).codedValues[\(index)]"
                if !codes.insert(value.code).inserted { report("\(at).code", "The code is there twice.") }
                if !Self.fits(value.code, type) { report("\(at).code", "The code does not fit the field's type.") }
                if value.name.isEmpty { report("\(at).name", "A code needs a name.") }
            }
        case .range(let minimum, let maximum):
            guard let low = minimum.doubleValue, let high = maximum.doubleValue, type.isNumeric || type == .date else {
                return report("\(place).range", "A range is two numbers, for a field of numbers or dates.")
            }
            if low > high { report("\(place).range", "The smaller limit comes first.") }
        }
    }

    private static func fits(_ value: AttributeValue, _ type: FieldType) -> Bool {
        switch value {
        case .null, .data: false
        case .integer: type.isNumeric || type == .date || type.isText
        case .real: [.single, .double, .date].contains(type)
        case .text: type.isText || type == .date
        }
    }

    private mutating func checkFieldReferences() {
        let objectID = object.string("objectIdField").flatMap { $0.isEmpty ? nil : $0 }
        let keys = fieldTypes.filter { $0.value == .oid }
        if keys.count != 1 || objectID.map({ fieldTypes[$0.lowercased()] != .oid }) == true {
            report("objectIdField", "A layer needs one field of the type esriFieldTypeOID, which this names.")
        }
        checkField("globalIdField", [.globalID])
        checkField("displayField", nil)
        checkField("typeIdField", nil)
        checkField("subtypeField", nil)
        let dates: Set<FieldType> = [.date, .timestampOffset]
        for key in ["creationDateField", "editDateField"] { checkField(key, dates, in: "editFieldsInfo") }
        for key in ["creatorField", "editorField"] { checkField(key, [.string], in: "editFieldsInfo") }
        for key in ["startTimeField", "endTimeField"] {
            checkField(key, dates.union([.dateOnly]), in: "timeInfo")
        }
        checkField("trackIdField", nil, in: "timeInfo")
        if let info = object["timeInfo"], !info.isNull, info["startTimeField"]?.stringValue?.isEmpty != false {
            report("timeInfo.startTimeField", "Times need a field.")
        }
    }

    // MARK: Rules

    private mutating func checkAttributeRules() {
        var names: Set<String> = []
        for (index, json) in object.array("attributeRules").enumerated() {
            let place = "attributeRules[\(index)]"
            let rule: AttributeRuleDefinition
            do {
                rule = try AttributeRuleDefinition(json: json)
            } catch {
                report(place, error.details.joined(separator: " "))
                continue
            }
            if !names.insert(rule.name.lowercased()).inserted {
                report("\(place).name", "There is another rule \(rule.name).")
            }
            if rule.kind != .validation, rule.events.isEmpty {
                report("\(place).triggeringEvents", "A rule needs the edits that run it.")
            }
            if rule.kind == .calculation, rule.fieldName != nil, rule.events.contains(.delete) {
                report(
                    "\(place).triggeringEvents",
                    "A feature that is deleted gets no values: leave out fieldName, or use a constraint.")
            }
            let settable = Set(FieldType.allCases).subtracting([.oid, .globalID, .geometry, .blob, .raster])
            if let name = rule.fieldName { checkFieldName(.string(name), settable, "\(place).fieldName") }
            for (position, name) in rule.triggeringFields.enumerated() {
                checkFieldName(.string(name), nil, "\(place).triggeringFields[\(position)]")
            }
        }
    }

    private mutating func checkField(_ key: String, _ types: Set<FieldType>?, in part: String? = nil) {
        let owner = part.map { object[$0]?.objectValue ?? JSONObject() } ?? object
        guard let value = owner[key], !value.isNull, value != "" else { return }
        checkFieldName(value, types, part.map { "\($0).\(key)" } ?? key)
    }

    private mutating func checkFieldName(_ value: JSONValue, _ types: Set<FieldType>?, _ place: String) {
        guard let name = value.stringValue else { return report(place, "The name of a field is expected.") }
        guard let type = fieldTypes[name.lowercased()] else { return report(place, "There is no field \(name).") }
        if let types, !types.contains(type) { report(place, "The field \(name) has the wrong type.") }
    }

    // MARK: Looks, types, relationships

    private mutating func checkScales() {
        for key in ["minScale", "maxScale"] {
            expect(.number, key)
            if let value = object.double(key), value < 0 { report(key, "A scale is not negative.") }
        }
        // The smallest scale has the largest denominator; 0 stands for no bound.
        if let low = object.double("minScale"), let high = object.double("maxScale"), low > 0, high > low {
            report("maxScale", "It must not be greater than minScale: both are denominators.")
        }
    }

    private mutating func checkTypes() {
        var ids: Set<AttributeValue> = []
        for (index, json) in object.array("types").enumerated() {
            let place = "types[\(index)]"
            do {
                let type = try FeatureTypeDefinition(json: json)
                if type.id.isNull { report("\(place).id", "A type needs an id.") }
                if !ids.insert(type.id).inserted { report("\(place).id", "There is another type of this id.") }
                for (field, domain) in type.domains.sorted(by: { $0.key < $1.key }) {
                    guard let fieldType = fieldTypes[field.lowercased()] else {
                        report("\(place).domains.\(field)", "There is no field \(field).")
                        continue
                    }
                    checkDomain(domain, of: fieldType, "\(place).domains.\(field)")
                }
            } catch {
                report(place, error.details.joined(separator: " "))
            }
            checkTemplates(json["templates"]?.arrayValue ?? [], "\(place).templates")
        }
        if !ids.isEmpty, object.string("typeIdField")?.isEmpty != false {
            report("typeIdField", "Types need the field that tells them.")
        }
    }

    private mutating func checkTemplates(_ templates: [JSONValue], _ place: String) {
        for (index, json) in templates.enumerated() {
            let at = "\(place)[\(index)]"
            if json["name"]?.stringValue?.isEmpty != false { report("\(at).name", "A template needs a name.") }
            for member in json["prototype"]?["attributes"]?.objectValue?.members ?? []
            where fieldTypes[member.key.lowercased()] == nil {
                report("\(at).prototype.attributes.\(member.key)", "There is no field \(member.key).")
            }
        }
    }

    private mutating func checkRelationships() {
        for (index, json) in object.array("relationships").enumerated() {
            let place = "relationships[\(index)]"
            do {
                let relationship = try RelationshipDefinition(json: json)
                checkFieldName(.string(relationship.keyField), nil, "\(place).keyField")
                if layers[relationship.relatedTableID] == nil {
                    report("\(place).relatedTableId", "There is no layer or table \(relationship.relatedTableID).")
                }
            } catch {
                report(place, error.details.joined(separator: " "))
            }
        }
    }

    private mutating func checkDrawing() {
        guard let drawing = object["drawingInfo"]?.objectValue else { return }
        check.expect(.array, "labelingInfo", in: drawing, "\(path).drawingInfo")
        guard let renderer = drawing["renderer"], !renderer.isNull else { return }
        guard renderer["type"]?.stringValue?.isEmpty == false else {
            return report("drawingInfo.renderer.type", "A renderer needs a type.")
        }
        for key in ["field", "field1", "field2", "field3"] {
            if let name = renderer[key], !name.isNull, name != "" {
                checkFieldName(name, nil, "drawingInfo.renderer.\(key)")
            }
        }
    }

    /// The condition that all queries get must be one that the layer understands.
    private mutating func checkExpression() {
        guard let layer = try? LayerDefinition(json: .object(object)) else { return }
        for name in LayerDefinition.conditionMembers {
            do {
                _ = try layer.condition(under: name)
            } catch {
                report(name, error.details.joined(separator: " "))
            }
        }
    }
}

extension LayerDefinition {
    /// The members of a definition that say which features belong to the layer: web maps and layers of the protocol call
    /// it by different names. Where both are there both must hold.
    package static let conditionMembers = ["definitionExpression", "definitionQuery"]

    /// Whether the layer's own condition may hold now and not in a minute.
    package var dependsOnCurrentTime: Bool {
        Self.conditionMembers.contains { unknownMembers.string($0)?.lowercased().contains("current_") == true }
            || restriction.map { "\($0)".contains(".current(") } == true
    }

    /// The condition under which features belong to the layer at all; nil when all do.
    package func definitionCondition() throws(ServiceError) -> SQLExpression? {
        var whole: SQLExpression?
        for name in Self.conditionMembers {
            guard let own = try condition(under: name) else { continue }
            whole = whole.map { .binary(.and, $0, own) } ?? own
        }
        return whole
    }

    fileprivate func condition(under name: String) throws(ServiceError) -> SQLExpression? {
        guard let text = unknownMembers.string(name), !text.isEmpty else { return nil }
        guard text.utf8.count <= Limits.whereBytes else { throw .invalidQuery("The condition is too long.") }
        return try FeatureQuery.condition(text, self, parameter: name)
    }
}
