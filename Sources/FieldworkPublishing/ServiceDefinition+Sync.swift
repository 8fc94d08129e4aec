package import FieldworkREST

extension ServiceDefinition {
    /// Lets clients take along those layers whose features have ids that hold everywhere.
    package mutating func allowSync() {
        capabilities.insert(.sync)
        for index in layers.indices where layers[index].globalIDField != nil {
            layers[index].capabilities.insert(.sync)
        }
    }
}
