/// The area of a ring in units of the tile; negative for one that turns the other way.
func signedArea(_ ring: [SIMD2<Int32>]) -> Double {
    var sum = 0.0
    for (index, corner) in ring.enumerated() {
        let next = ring[(index + 1) % ring.count]
        sum += Double(corner.x) * Double(next.y) - Double(next.x) * Double(corner.y)
    }
    return sum / 2
}
