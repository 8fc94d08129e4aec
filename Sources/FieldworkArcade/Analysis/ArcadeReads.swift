/// What a script reads, found without running it: which fields to fetch, which layers to take offline, and whether it
/// may run where nothing waits.
public struct ArcadeReads: Sendable, Hashable {
    /// A layer that a script names.
    public struct Layer: Sendable, Hashable {
        /// `$map`, `$datastore`, or what else it picks from.
        public var collection: String
        /// Its title, name or id.
        public var name: String
        /// Whether the name is an id.
        public var isID: Bool
    }

    /// Fields of `$feature` and the like, by the name of the global in lower case.
    public var fields: [String: Set<String>] = [:]
    /// Whether fields are read that only a run can tell.
    public var readsOtherFields = false
    /// Globals, in lower case.
    public var globals: Set<String> = []
    /// Layers.
    public var layers: Set<Layer> = []
    /// Relationships.
    public var relationships: Set<String> = []
    /// Functions of the language, by the names of its documentation.
    public var functions: Set<String> = []
    /// Whether layers are read: then an evaluation may wait for data.
    public var needsData = false
    /// Whether geometries are read.
    public var needsGeometry = false
}

/// Finds out what a script reads.
struct ReadsCollector {
    private(set) var reads = ArcadeReads()

    mutating func add(_ statements: [Statement]) {
        for statement in statements { add(statement) }
    }

    private mutating func add(_ statement: Statement) {
        switch statement.kind {
        case .expression(let expression): add(expression)
        case .variables(let variables): for variable in variables { add(variable.value) }
        case .block(let inside): add(inside)
        case .condition(let branches, let otherwise):
            for branch in branches {
                add(branch.condition)
                add(branch.body)
            }
            if let otherwise { add(otherwise) }
        case .loop(let start, let condition, let step, let body):
            if let start { add(start) }
            add(condition)
            add(step)
            add(body)
        case .each(_, _, _, let over, let body), .whileLoop(let over, let body):
            add(over)
            add(body)
        case .giveBack(let expression): add(expression)
        case .function(let function): add(function.body)
        case .breakLoop, .continueLoop, .importModule: break
        }
    }

    private mutating func add(_ expression: Expression?) {
        guard let expression else { return }
        switch expression.kind {
        case .null, .boolean, .number, .text: break
        case .name(let name): use(name, isWhole: true)
        case .template(let parts):
            for case .expression(let inside) in parts { add(inside) }
        case .array(let elements): for element in elements { add(element) }
        case .dictionary(let members): for member in members { add(member.value) }
        case .member(let owner, let field):
            if case .name(let name) = owner.kind, name.hasPrefix("$") {
                use(name, isWhole: false)
                fields(of: name, field)
            } else {
                add(owner)
            }
        case .index(let owner, let key):
            if case .name(let name) = owner.kind, name.hasPrefix("$"), case .text(let field) = key.kind {
                use(name, isWhole: false)
                fields(of: name, field)
            } else {
                add(owner)
                add(key)
            }
        case .call(let callee, let arguments): call(callee, arguments)
        case .unary(_, let operand), .increment(let operand, _, _): add(operand)
        case .chain(let first, let links):
            add(first)
            for link in links { add(link.operand) }
        case .logical(_, let operands): for operand in operands { add(operand) }
        case .assign(let target, _, let value):
            add(target)
            add(value)
        }
    }

    private mutating func fields(of global: String, _ field: String) {
        let global = global.lowercased()
        if global == "$feature" || global == "$originalfeature" || global == "$aggregatedfeatures" {
            reads.fields[global, default: []].insert(field)
        }
    }

    private mutating func use(_ name: String, isWhole: Bool) {
        let lower = name.lowercased()
        guard lower.hasPrefix("$") else {
            if let builtin = FunctionCatalogue.function(lower) {
                reads.functions.insert(builtin.name)
                if Self.waits(builtin) { reads.needsData = true }
            }
            return
        }
        reads.globals.insert(lower)
        switch lower {
        case "$feature", "$originalfeature": reads.readsOtherFields = reads.readsOtherFields || isWhole
        case "$layer", "$featureset", "$map", "$datastore", "$aggregatedfeatures": reads.needsData = true
        default: break
        }
    }

    /// Whether a function may ask a data source.
    private static func waits(_ builtin: Builtin) -> Bool {
        (builtin.bundle == .dataAccess || builtin.bundle == .portal)
            && !["FeatureSet", "GetUser"].contains(builtin.name)
    }

    private mutating func call(_ callee: Expression, _ arguments: [Expression]) {
        guard case .name(let name) = callee.kind, let builtin = FunctionCatalogue.function(name.lowercased()) else {
            add(callee)
            for argument in arguments { add(argument) }
            return
        }
        reads.functions.insert(builtin.name)
        if Self.waits(builtin) { reads.needsData = true }
        if builtin.bundle == .geometry { reads.needsGeometry = true }
        var rest = arguments
        switch builtin.name {
        case "FeatureSetByName", "FeatureSetById":
            if arguments.count > 1, case .name(let collection) = arguments[0].kind,
                case .text(let layer) = arguments[1].kind
            {
                reads.layers.insert(
                    ArcadeReads.Layer(
                        collection: collection.lowercased(), name: layer, isID: builtin.name == "FeatureSetById"))
            }
        case "FeatureSetByRelationshipName", "FeatureSetByRelationshipClass":
            if arguments.count > 1, case .text(let name) = arguments[1].kind { reads.relationships.insert(name) }
        case "Expects":
            if case .name(let owner)? = arguments.first?.kind {
                for argument in arguments.dropFirst() {
                    guard case .text(let field) = argument.kind else { continue }
                    if field.contains("*") { reads.readsOtherFields = true } else { fields(of: owner, field) }
                }
                use(owner, isWhole: false)
                rest.removeFirst()
            }
        case "DomainName", "DomainCode", "Domain", "HasKey", "HasValue":
            if case .name(let owner)? = arguments.first?.kind, owner.hasPrefix("$"), arguments.count > 1,
                case .text(let field) = arguments[1].kind
            {
                use(owner, isWhole: false)
                fields(of: owner, field)
                rest.removeFirst()
            }
        case "Geometry":
            if case .name(let owner)? = arguments.first?.kind, owner.hasPrefix("$") {
                use(owner, isWhole: false)
                rest.removeFirst()
            }
        default:
            // A feature that stands for its geometry gives none of its fields.
            if builtin.bundle == .geometry {
                for argument in rest {
                    if case .name(let owner) = argument.kind, owner.hasPrefix("$") {
                        use(owner, isWhole: false)
                    } else {
                        add(argument)
                    }
                }
                return
            }
        }
        for argument in rest { add(argument) }
    }
}
