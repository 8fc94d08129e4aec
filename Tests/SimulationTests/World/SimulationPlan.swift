import FieldworkGeometry
import FieldworkREST
import Foundation
import TestSupport

@testable import Fieldwork

/// What kind of story a seed tells.
struct SimulationPlan {
    var rule: ConflictRule
    var isComposite: Bool
    var isTracked: Bool
    var deviceCount: Int
    /// Connected people, beside those with devices.
    var walkerCount: Int
    var steps: Int
    /// Of a thousand requests, about so many meet each kind of fault; some stories have a good network.
    var faultsPerMille: Int
    var crashesPerMille: Int

    /// Whether backups are made of the service and put back.
    var hasBackups = false

    init(using generator: inout SeededGenerator) {
        rule = ConflictRule.allCases.randomElement(using: &generator) ?? .lastInWins
        isComposite = Bool.random(using: &generator)
        isTracked = Bool.random(using: &generator)
        // Mostly small stories: they find as much, and are read more easily.
        deviceCount = Int.random(in: 0..<25, using: &generator) == 0 ? 10 : Int.random(in: 1...4, using: &generator)
        walkerCount = [0, 0, 0, 1, 1, 2].randomElement(using: &generator) ?? 0
        steps = Int.random(in: 12...45, using: &generator) + (deviceCount + walkerCount) * 3
        faultsPerMille = [0, 30, 60, 120].randomElement(using: &generator) ?? 0
        crashesPerMille = [0, 20, 60, 150].randomElement(using: &generator) ?? 0
    }
}

/// What a device takes offline.
struct DevicePlan {
    /// The stretch of the street.
    var from: Double
    var to: Double
    var countsByLayer: Bool
    /// As from a service that makes no files: the area comes as a document.
    var takesDocument: Bool
    /// Only trees that stand.
    var onlyStanding: Bool
    /// All visits, or only those of trees that are taken along.
    var takesAllVisits: Bool
    /// Which way files of trees go.
    var files: AttachmentSyncDirection
    /// How much the device's clock is ahead of the true time.
    var clockSkew: TimeInterval

    init(using generator: inout SeededGenerator) {
        let areas = [(0.0, 400.0), (0, 400), (0, 250), (150, 400), (100, 300)]
        (from, to) = areas.randomElement(using: &generator) ?? (0, 400)
        countsByLayer = Bool.random(using: &generator)
        takesDocument = Bool.random(using: &generator)
        onlyStanding = Int.random(in: 0..<4, using: &generator) == 0
        takesAllVisits = Bool.random(using: &generator)
        files =
            [.none, .upload, .bidirectional, .bidirectional, .bidirectional].randomElement(using: &generator)
            ?? .bidirectional
        clockSkew = TimeInterval(Int.random(in: -200_000...200_000, using: &generator))
    }

    var area: Envelope { Envelope(xMin: from, yMin: -50, xMax: to, yMax: 1_000, spatialReference: .webMercator) }

    func contains(_ tree: OrchardRow) -> Bool {
        guard let x = tree.x, x >= from, x <= to else { return false }
        return !onlyStanding || tree.values["Felled"]?.integerValue == 0
    }
}
