import ArgumentParser
import FieldworkGeometry
import FieldworkTiles
import Foundation

/// An area that a verb is given in degrees: WEST,SOUTH,EAST,NORTH.
struct DegreeBox: Sendable {
    /// In the plane of web maps.
    let envelope: Envelope

    init(_ text: String) throws {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
            .map { Double($0.trimmingCharacters(in: .whitespaces)) ?? .nan }
        guard numbers.count == 4, numbers[0] < numbers[2], numbers[1] < numbers[3],
            [numbers[0], numbers[2]].allSatisfy({ abs($0) <= 180 }),
            [numbers[1], numbers[3]].allSatisfy({ abs($0) <= WebMercator.greatestLatitude })
        else {
            throw ValidationError("--area is WEST,SOUTH,EAST,NORTH in degrees, such as -122.43,37.77,-122.40,37.79.")
        }
        envelope = Envelope(
            xMin: WebMercator.x(longitude: numbers[0]), yMin: WebMercator.y(latitude: numbers[1]),
            xMax: WebMercator.x(longitude: numbers[2]), yMax: WebMercator.y(latitude: numbers[3]),
            spatialReference: .webMercator)
    }
}
