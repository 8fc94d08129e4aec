import Foundation
import Testing

@testable import FieldworkGeometry

/// PROJ's own conformance files of the International Association of Oil and Gas Producers, through our references.
@Suite("Projection suites through the engine")
struct GIESuiteTests {
    /// Geocentric places have three coordinates; references of features have two and a height.
    private static let geocentric = 4_978

    @Test(
        "Every place that goes from one register number to another lands where the files say",
        .enabled(if: SharedData.url("projection/gigs") != nil, "the public test data is absent"))
    func gigs() throws {
        let folder = try #require(SharedData.url("projection/gigs"))
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        var failures: [String: [String]] = [:]
        var passed = 0
        for file in files.sorted(by: { $0.path < $1.path }) where file.pathExtension == "gie" {
            for test in GIECaseReader.cases(in: file) where ![test.source, test.target].contains(Self.geocentric) {
                if let failure = try failure(of: test) {
                    failures[test.file, default: []].append(failure)
                } else {
                    passed += 1
                }
            }
        }
        print("GIGS: \(passed) passed, \(failures.values.map(\.count).reduce(0, +)) differ")
        #expect(passed > 400)
        for (file, texts) in failures.sorted(by: { $0.key < $1.key }) {
            Issue.record("\(file): \(texts.joined(separator: "\n"))")
        }
    }

    private func failure(of test: GIECase) throws -> String? {
        let source = try #require(WKID(test.source).flatMap { SpatialReference(wkid: $0) }, "\(test.source)")
        let target = try #require(WKID(test.target).flatMap { SpatialReference(wkid: $0) }, "\(test.target)")
        // The files count every angle in degrees, a reference in the unit that its register says (grads around Paris).
        let (into, outOf) = (1 / degrees(source), degrees(target))
        let point = Point(x: test.accepted[0] * into, y: test.accepted[1] * into, spatialReference: source)
        guard let made = GeometryEngine.project(point, into: target) else {
            return "line \(test.line): no place for \(test.accepted)"
        }
        // A tolerance in metres is about that many hundred-thousandths of a degree.
        let tolerance = target.isGeographic ? test.tolerance / 100_000 : test.tolerance
        let distance = max(abs(made.x * outOf - test.expected[0]), abs(made.y * outOf - test.expected[1]))
        return distance <= tolerance
            ? nil : "line \(test.line): \(test.source) → \(test.target) \(test.accepted) is \(distance) off"
    }

    /// Degrees in a unit of a geographic reference; 1 for a plane one.
    private func degrees(_ reference: SpatialReference) -> Double {
        reference.isGeographic ? reference.unitFactor * 180 / .pi : 1
    }
}
