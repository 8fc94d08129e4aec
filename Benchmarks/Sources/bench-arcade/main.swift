import FieldworkArcade
import Foundation

// Measures the interpreter: labels of many features, the expressions of a form, reading scripts. One core. A figure is that of the
// best of many short rounds, so that what else runs on the machine changes it little.

let schema = ArcadeSchema(fields: [
    ArcadeField(name: "species", type: "esriFieldTypeString"), ArcadeField(name: "dbh", type: "esriFieldTypeDouble"),
    ArcadeField(name: "height", type: "esriFieldTypeDouble"), ArcadeField(name: "planted", type: "esriFieldTypeDate"),
])

func feature(_ index: Int) -> ArcadeFeature {
    let number = Double(index)
    let values: [ArcadeValue] = [
        .text(index % 2 == 0 ? "ACMA" : "Quercus garryana"), .number(number / 7), .number(Double(index % 40)),
        .number(1_262_304_000_000 + number * 86_400_000),
    ]
    return ArcadeFeature(schema: schema, values: values)
}

let features = (0..<1_000).map(feature)

func measure(
    _ name: String, _ source: String, profile: ArcadeProfile = .labeling, of features: [ArcadeFeature] = features,
    rounds: Int
) throws {
    let script = ArcadeScript(source, profile: profile)
    let runner = try ArcadeRunner(script, ArcadeContext(profile: profile, now: 0))
    for feature in features { _ = try runner.value(feature) }
    let best = try shortest(of: rounds) { for feature in features { _ = try runner.value(feature) } }
    print("\(name)\t\(Int(Double(features.count) / best)) a second")
}

/// Seconds of the shortest round.
func shortest(of rounds: Int, _ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    var best = Double.infinity
    for _ in 0..<rounds {
        let time = try clock.measure(body)
        best = min(best, Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)
    }
    return best
}

try measure("label of three functions", "Left(Upper($feature.species), 3) + ' ' + Round($feature.dbh)", rounds: 1_000)
try measure(
    "label with a number format", "Proper($feature.species) + TextFormatting.NewLine + Text($feature.dbh, '#,##0.0')",
    rounds: 300)
try measure(
    "class of a renderer", "When($feature.dbh < 6, 'small', $feature.dbh < 18, 'medium', 'large')",
    profile: .visualization, rounds: 1_000)
try measure("arithmetic", "Sqrt($feature.dbh * $feature.height) / (1 + Abs($feature.dbh))", rounds: 1_000)
try measure(
    "a loop of a thousand turns", "var s = 0; for (var i = 0; i < 1000; i++) { s += i * $feature.dbh } s",
    of: Array(features.prefix(5)), rounds: 200)
try measure(
    "a loop with branches",
    """
    var s = 0
    for (var i = 1; i <= 1000; i++) {
        if (i % 3 == 0) { s += Sqrt(i) } else if (s > 5000 && i > 10) { s = s / 2 - $feature.height } else { s += Abs(i - $feature.dbh) }
    }
    return s
    """, of: Array(features.prefix(5)), rounds: 200)

let expressions = (0..<40).map { "Round($feature.dbh * \($0) + $feature.height / 2, 2)" }
let runners = try expressions.map {
    try ArcadeRunner(
        ArcadeScript($0, profile: .formCalculation), ArcadeContext(profile: .formCalculation, now: 0))
}
let settled = try shortest(of: 100) { for runner in runners { _ = try runner.value(features[7]) } }
print("a form of 40 values\t\(settled * 1_000) ms")
let read = shortest(of: 25) { for source in expressions { _ = ArcadeScript(source, profile: .formCalculation) } }
print("reading a script\t\(read / 40 * 1_000_000) µs")
