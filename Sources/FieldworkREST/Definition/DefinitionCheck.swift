import FieldworkGeometry

/// Looks for all problems of a definition document at once. The readers of resources are tolerant, since old servers leave
/// things out; who writes a definition wants to know what would be passed over.
struct DefinitionCheck {
    private(set) var problems: [DefinitionProblem] = []

    mutating func report(_ path: String, _ message: String) {
        guard problems.count < Limits.definitionProblems else { return }
        problems.append(DefinitionProblem(path: path, message: message))
    }

    mutating func forgive(_ known: Set<DefinitionProblem>) { problems.removeAll(where: known.contains) }

    mutating func run(_ document: JSONValue) {
        guard let object = document.objectValue else { return report("", "A definition is a JSON object.") }
        for key in ["description", "serviceDescription", "copyrightText"] { expect(.string, key, in: object, "") }
        checkCapabilities(object, "")
        checkRecordCount(object, "")
        checkConflictRule(object)
        if let reference = object["spatialReference"], !reference.isNull {
            checkReference(reference, "spatialReference")
        }
        var ids: [Int: String] = [:]
        var all: [(path: String, object: JSONObject)] = []
        for key in ["layers", "tables"] {
            guard let value = object[key] else { continue }
            guard let elements = value.arrayValue else {
                report(key, "An array of definitions is expected.")
                continue
            }
            for (index, element) in elements.enumerated() {
                let path = "\(key)[\(index)]"
                guard let layer = element.objectValue else {
                    report(path, "A JSON object is expected.")
                    continue
                }
                all.append((path, layer))
                guard let id = layer.integer("id"), id >= 0 else {
                    report("\(path).id", "A layer needs an id: a whole number from 0 on.")
                    continue
                }
                if let other = ids[id] { report("\(path).id", "\(other) has the id \(id) too.") }
                ids[id] = path
            }
        }
        let keys = Dictionary(
            all.compactMap { entry in entry.object.integer("id").map { ($0, entry.object) } },
            uniquingKeysWith: { first, _ in first })
        for (path, layer) in all {
            var check = LayerCheck(
                object: layer, path: path, isTable: path.hasPrefix("tables"), layers: keys, check: self)
            check.run()
            self = check.check
        }
    }

    private mutating func checkConflictRule(_ object: JSONObject) {
        guard let value = object["conflictRule"], !value.isNull else { return }
        if value.stringValue.flatMap(ConflictRule.init(rawValue:)) == nil {
            let rules = ConflictRule.allCases.map(\.rawValue).joined(separator: ", ")
            report("conflictRule", "One of \(rules) is expected.")
        }
    }

    // MARK: Parts of both

    enum Kind {
        case string, bool, number, array, object

        var text: String {
            switch self {
            case .string: "Text"
            case .bool: "true or false"
            case .number: "A number"
            case .array: "An array"
            case .object: "A JSON object"
            }
        }
    }

    /// Reports a member of another kind. Absent and null are fine.
    mutating func expect(_ kind: Kind, _ key: String, in object: JSONObject, _ path: String) {
        guard let value = object[key], !value.isNull else { return }
        let isRight =
            switch kind {
            case .string: value.stringValue != nil
            case .bool: value.boolValue != nil
            case .number: value.doubleValue != nil
            case .array: value.arrayValue != nil
            case .object: value.objectValue != nil
            }
        if !isRight { report(join(path, key), "\(kind.text) is expected.") }
    }

    func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    mutating func checkCapabilities(_ object: JSONObject, _ path: String) {
        expect(.string, "capabilities", in: object, path)
        for word in object.string("capabilities")?.split(separator: ",") ?? [] {
            let name = word.filter { $0 != " " }
            let isKnown = Capability.allCases.contains { $0.rawValue.lowercased() == name.lowercased() }
            if !isKnown { report(join(path, "capabilities"), "There is no capability '\(name)'.") }
        }
    }

    mutating func checkRecordCount(_ object: JSONObject, _ path: String) {
        guard let value = object["maxRecordCount"], !value.isNull else { return }
        guard let count = value.integerValue, (1...Int64(Limits.recordCount)).contains(count) else {
            return report(join(path, "maxRecordCount"), "A whole number from 1 to \(Limits.recordCount) is expected.")
        }
    }

    mutating func checkReference(_ json: JSONValue, _ path: String) {
        if (try? GeoServicesJSON.spatialReference(from: json)) == nil {
            report(path, "The spatial reference is unknown.")
        }
    }
}
