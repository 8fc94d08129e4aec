import Foundation

/// Where the label of a feature belongs, in pixels of the image.
struct LabelAnchor: Sendable, Hashable {
    var x: Double
    var y: Double
    /// Radians with the clock; along a line, never upside down.
    var angle = 0.0
    /// Pixels that the label has room for; nil for as many as it needs.
    var room: Double?

    /// nil for a feature that is outside of the image.
    init?(_ record: DrawingRecord, in frame: MapFrame) {
        switch record.kind {
        case .points, .heat:
            guard let x = record.xs.first, let y = record.ys.first else { return nil }
            (self.x, self.y) = (Double(x), Double(y))
        case .lines:
            guard let found = Self.alongLine(record) else { return nil }
            self = found
        case .areas:
            guard let found = Self.within(record, frame) else { return nil }
            self = found
        }
        guard x >= 0, y >= 0, x <= Double(frame.width), y <= Double(frame.height) else { return nil }
    }

    private init(x: Double, y: Double, angle: Double = 0, room: Double? = nil) {
        (self.x, self.y, self.angle, self.room) = (x, y, angle, room)
    }

    /// The middle of the longest part.
    private static func alongLine(_ record: DrawingRecord) -> LabelAnchor? {
        var best: (length: Double, part: Range<Int>)?
        for number in record.starts.indices {
            let part = record.part(number)
            let length = part.dropFirst().reduce(0.0) { $0 + distance(record, $1 - 1, $1) }
            if length > best?.length ?? 0 { best = (length, part) }
        }
        guard let best else { return nil }
        var rest = best.length / 2
        for index in best.part.dropFirst() {
            let step = distance(record, index - 1, index)
            guard step > 0 else { continue }
            if rest <= step {
                let share = Float(rest / step)
                let (dx, dy) = (record.xs[index] - record.xs[index - 1], record.ys[index] - record.ys[index - 1])
                var angle = atan2(Double(dy), Double(dx))
                if angle > .pi / 2 { angle -= .pi }
                if angle < -.pi / 2 { angle += .pi }
                return LabelAnchor(
                    x: Double(record.xs[index - 1] + share * dx), y: Double(record.ys[index - 1] + share * dy),
                    angle: angle, room: best.length)
            }
            rest -= step
        }
        return nil
    }

    private static func distance(_ record: DrawingRecord, _ from: Int, _ to: Int) -> Double {
        let (dx, dy) = (Double(record.xs[to] - record.xs[from]), Double(record.ys[to] - record.ys[from]))
        return (dx * dx + dy * dy).squareRoot()
    }

    /// The middle of the widest stretch within the area, at half the height of what the image shows of it.
    private static func within(_ record: DrawingRecord, _ frame: MapFrame) -> LabelAnchor? {
        guard let least = record.ys.min(), let most = record.ys.max() else { return nil }
        let (top, bottom) = (max(Double(least), 0), min(Double(most), Double(frame.height)))
        guard bottom > top else { return nil }
        let y = (top + bottom) / 2
        var crossings: [Double] = []
        for number in record.starts.indices {
            let part = record.part(number)
            guard var previous = part.last else { continue }
            for index in part {
                let (fromY, toY) = (Double(record.ys[previous]), Double(record.ys[index]))
                if (fromY <= y) != (toY <= y) {
                    let (fromX, toX) = (Double(record.xs[previous]), Double(record.xs[index]))
                    crossings.append(fromX + (y - fromY) / (toY - fromY) * (toX - fromX))
                }
                previous = index
            }
        }
        crossings.sort()
        var best: (width: Double, x: Double)?
        for index in stride(from: 0, to: crossings.count - 1, by: 2) {
            let (left, right) = (max(crossings[index], 0), min(crossings[index + 1], Double(frame.width)))
            if right - left > best?.width ?? 0 { best = (right - left, (left + right) / 2) }
        }
        return best.map { LabelAnchor(x: $0.x, y: y) }
    }
}
