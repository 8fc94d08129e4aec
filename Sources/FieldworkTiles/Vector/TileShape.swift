/// The lines or rings of one feature in metres of the Web Mercator plane.
package struct TileShape: Sendable {
    package var xs: [Double]
    package var ys: [Double]
    /// Which vertices make up each part.
    package var parts: [Range<Int>]
    /// For polygons: which parts are shells; the others are holes of the shell before them.
    package var areShells: [Bool]

    package init(xs: [Double] = [], ys: [Double] = [], parts: [Range<Int>] = [], areShells: [Bool] = []) {
        self.xs = xs
        self.ys = ys
        self.parts = parts
        self.areShells = areShells
    }

    /// nil when there is nothing, or something that is no number or far outside of the plane.
    package var box: PlaneBox? {
        guard let x = xs.first, let y = ys.first else { return nil }
        var box = PlaneBox(xMin: x, yMin: y, xMax: x, yMax: y)
        // What is no number is lost in comparisons, but not in a sum.
        var sum = 0.0
        for x in xs {
            box.xMin = min(box.xMin, x)
            box.xMax = max(box.xMax, x)
            sum += x
        }
        for y in ys {
            box.yMin = min(box.yMin, y)
            box.yMax = max(box.yMax, y)
            sum += y
        }
        let isNear = max(abs(box.xMin), abs(box.xMax), abs(box.yMin), abs(box.yMax)) < 1e12
        return sum.isFinite && isNear ? box : nil
    }
}
