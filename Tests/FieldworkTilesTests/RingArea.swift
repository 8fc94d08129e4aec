/// Square units of a ring in a tile; positive for shells, negative for holes.
func ringArea(_ ring: [SIMD2<Int32>]) -> Double {
    var sum = 0.0
    guard var before = ring.last else { return 0 }
    for place in ring {
        sum += Double(before.x) * Double(place.y)
        sum -= Double(place.x) * Double(before.y)
        before = place
    }
    return sum / 2
}
