import FieldworkREST

/// A kind of feature within a table, with domains and templates of its own.
public final class FeatureType: Sendable {
    /// The value of the type field that stands for it.
    public let id: (any Sendable)?
    /// Its name.
    public let name: String
    /// Domains by field name.
    public let domains: [String: Domain]
    /// What new features of the type start from.
    public let templates: [FeatureTemplate]

    init(_ definition: FeatureTypeDefinition, layer: LayerDefinition) {
        let idType = layer.typeIDField.flatMap(layer.field(named:))?.type ?? .integer
        id = AttributeConversion.clientValue(AttributeConversion.normalised(definition.id, type: idType), type: idType)
        name = definition.name
        var domains: [String: Domain] = [:]
        for (name, domain) in definition.domains {
            guard let field = layer.field(named: name) else { continue }
            if case .inherited = domain.kind, let own = field.domain {
                domains[field.name] = Domain.make(own, type: field.type)
            } else {
                domains[field.name] = Domain.make(domain, type: field.type)
            }
        }
        self.domains = domains
        templates = definition.templates.map { FeatureTemplate($0, layer: layer) }
    }
}

/// What a new feature starts from.
public final class FeatureTemplate: Sendable {
    /// How a sketch of the feature is drawn.
    public enum DrawingTool: Sendable {
        /// By single points.
        case point
        /// By a line through points.
        case line
        /// By an outline.
        case polygon
        /// Not said.
        case none
    }

    /// Its name.
    public let name: String
    /// What it is for.
    public let description: String
    /// How a sketch of the feature is drawn.
    public let drawingTool: DrawingTool
    /// The attributes that a new feature starts with.
    public let prototypeAttributes: [String: any Sendable]

    /// A template without attributes.
    public init(name: String) {
        self.name = name
        description = ""
        drawingTool = .none
        prototypeAttributes = [:]
    }

    init(_ definition: FeatureTemplateDefinition, layer: LayerDefinition) {
        name = definition.name
        description = definition.description
        let tool = definition.drawingTool?.lowercased() ?? ""
        drawingTool =
            if tool.contains("point") { .point } else if tool.contains("line") {
                .line
            } else if tool.contains("polygon") {
                .polygon
            } else { .none }
        var attributes: [String: any Sendable] = [:]
        for (name, value) in definition.attributes {
            guard let field = layer.field(named: name) else { continue }
            let normal = AttributeConversion.normalised(value, type: field.type)
            attributes[field.name] = AttributeConversion.clientValue(normal, type: field.type)
        }
        prototypeAttributes = attributes
    }
}
