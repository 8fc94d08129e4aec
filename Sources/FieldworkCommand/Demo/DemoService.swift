import FieldworkREST

/// A service that the demo makes at its first start.
protocol DemoService: Sendable {
    var definition: ServiceDefinition { get }
    /// The features, a piece at a time, layers in the order in which their keys are needed.
    func batches() -> AnySequence<LayerEdits>
}

enum DemoServices {
    static let all: [any DemoService] = [DamageAssessmentDemo(), SaveTheBayDemo(), TreesOfPortlandDemo()]
}
