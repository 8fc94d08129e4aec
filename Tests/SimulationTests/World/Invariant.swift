/// What must hold in every story, whatever happened in it.
enum Invariant: String, Sendable, CaseIterable {
    /// Every acknowledged value is the present one, a former one or in a conflict.
    case savedIsKept = "saved is kept"
    /// A device has at rest what the service has of its area.
    case replicasAreEqual = "replicas are equal"
    /// No feature and no file is anywhere twice.
    case onlyOnce = "only once"
    /// Neither the service nor a device goes back to an earlier state.
    case generationsGrow = "generations grow"
    /// A device has nothing from outside of what it took offline.
    case insideArea = "inside the area"
    /// What a call on a device returned from outlives the process; what it died in the midst of happened all or not at all.
    case deathLosesNothing = "death loses nothing"
    /// Files and their indexes are whole, and what is attached belongs to a feature.
    case filesAreWhole = "files are whole"
    /// Nothing is refused that should go.
    case workGoesOn = "work goes on"
}

/// One violation of an invariant.
struct Problem: Sendable, CustomStringConvertible {
    var invariant: Invariant
    var text: String

    var description: String { "\(invariant.rawValue): \(text)" }
}
