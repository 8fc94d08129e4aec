import FieldworkREST

/// The operation that an address names, with what the address gives for its parameters.
struct RouteMatch: Sendable {
    var route: Route
    var values: RouteValues
}

/// Finds the route of an address. Literal segments match without regard to the case of ASCII letters, and go before
/// parameters; the longest way that fits wins over one that ends in `*`.
struct RouteTable: Sendable {
    let routes: [Route]
    private let root: Node
    private let below: [String]

    /// - Parameters:
    ///   - instance: the first segment of the protocol's addresses.
    ///   - below: the path of the public address, which something in front of the server may leave in.
    init(instance: String, below: [String] = [], routes: [Route] = Route.all) {
        self.routes = routes
        self.below = below
        var root = Node()
        for route in routes {
            let segments = route.pattern.split(separator: "/").map { Segment($0, instance: instance) }
            root.add(route, at: segments[...])
        }
        self.root = root
    }

    func match(_ target: RequestTarget) -> RouteMatch? {
        let segments = target.segments
        let isBelow = !below.isEmpty && segments.starts(with: below)
        return root.match(isBelow ? segments.dropFirst(below.count) : segments[...], RouteValues())
    }

    private enum Segment: Hashable {
        case literal(String)
        case parameter(RouteParameter)
        case rest

        init(_ text: Substring, instance: String) {
            if text == "*" {
                self = .rest
            } else if text.first == "{", text.last == "}",
                let parameter = RouteParameter(rawValue: String(text.dropFirst().dropLast()))
            {
                self = parameter == .instance ? .literal(instance) : .parameter(parameter)
            } else {
                self = .literal(String(text))
            }
        }
    }

    /// What may follow a part of an address.
    private struct Node: Sendable {
        private var literals: [(name: String, node: Node)] = []
        private var parameters: [(parameter: RouteParameter, node: Node)] = []
        private var route: Route?
        private var rest: Route?

        mutating func add(_ route: Route, at segments: ArraySlice<Segment>) {
            let following = segments.dropFirst()
            switch segments.first {
            case nil: self.route = route
            case .rest: rest = route
            case .literal(let name):
                if let index = literals.firstIndex(where: { $0.name.equalsIgnoringCase(name) }) {
                    literals[index].node.add(route, at: following)
                } else {
                    var node = Node()
                    node.add(route, at: following)
                    literals.append((name, node))
                }
            case .parameter(let parameter):
                if let index = parameters.firstIndex(where: { $0.parameter == parameter }) {
                    parameters[index].node.add(route, at: following)
                } else {
                    var node = Node()
                    node.add(route, at: following)
                    parameters.append((parameter, node))
                }
            }
        }

        func match(_ segments: ArraySlice<String>, _ values: RouteValues) -> RouteMatch? {
            guard let first = segments.first else {
                return (route ?? rest).map { RouteMatch(route: $0, values: values) }
            }
            let following = segments.dropFirst()
            // Nearly all clients write a name as it is.
            let exact = literals.first { $0.name == first }
            if let literal = exact ?? literals.first(where: { $0.name.equalsIgnoringCase(first) }),
                let match = literal.node.match(following, values)
            {
                return match
            }
            for (parameter, node) in parameters {
                var taken = values
                if taken.take(first, as: parameter), let match = node.match(following, taken) { return match }
                guard parameter == .service, let second = following.first else { continue }
                taken.service = "\(first)/\(second)"
                if let match = node.match(following.dropFirst(), taken) { return match }
            }
            return rest.map { RouteMatch(route: $0, values: values) }
        }
    }
}
