import CCairo
import FieldworkGeometry
import FieldworkREST
import Foundation

/// The labels of an image: collected while the layers are drawn, set where they have room when all are.
struct LabelBoard {
    private struct Candidate {
        var text: String
        var style: LabelClass
        var anchor: LabelAnchor
        /// Pixels from the anchor to the edge of the symbol.
        var reach: Double
        var layer: Int
    }

    private struct Box {
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double

        func meets(_ other: Box) -> Bool {
            left < other.right && other.left < right && top < other.bottom && other.top < bottom
        }
    }

    /// Whether labels that reach beyond the image are left out.
    private let staysWithin: Bool
    private var candidates: [Candidate] = []
    private var taken: [Int: [Box]] = [:]
    private static let cell = 128.0

    init(staysWithin: Bool) { self.staysWithin = staysWithin }

    mutating func add(_ text: String, _ style: LabelClass, _ anchor: LabelAnchor, reach: Double, layer: Int) {
        guard candidates.count < Limits.labelCandidates else { return }
        candidates.append(Candidate(text: text, style: style, anchor: anchor, reach: reach, layer: layer))
    }

    /// Without a font of the system nothing is drawn.
    mutating func draw(on canvas: CairoCanvas) throws {
        guard !candidates.isEmpty, let text = TextLayout(canvas) else { return }
        // The labels of upper layers come first.
        let ordered = candidates.indices.sorted {
            (candidates[$1].layer, $0) < (candidates[$0].layer, $1)
        }
        var (drawn, number, last) = (0, 0, -1)
        for index in ordered {
            number += 1
            if number.isMultiple(of: 64) { try WorkAllowance.check() }
            guard drawn < Limits.labels else { return }
            let candidate = candidates[index]
            if last < 0 || candidate.style.font != candidates[last].style.font {
                text.setFont(candidate.style.font)
            }
            last = index
            if draw(candidate, text, canvas) { drawn += 1 }
        }
    }

    /// - Returns: whether there was room.
    private mutating func draw(_ candidate: Candidate, _ text: TextLayout, _ canvas: CairoCanvas) -> Bool {
        let (across, down) = text.set(candidate.text)
        if let room = candidate.anchor.room, across > room { return false }
        let (anchor, style) = (candidate.anchor, candidate.style)
        let gap = candidate.reach + 2
        // From the anchor to the middle of the text, before it is turned.
        let isBeside = anchor.room == nil && style.side != LabelClass.Side(x: 0, y: 0)
        let shiftX = style.side.x * (isBeside ? gap * (style.side.y == 0 ? 1 : 0.7) + across / 2 : 0)
        let shiftY =
            style.side.y * (isBeside ? gap * (style.side.x == 0 ? 1 : 0.3) + down / 2 : candidate.reach + down / 2)
        let (cosine, sine) = (cos(anchor.angle), sin(anchor.angle))
        let middleX = anchor.x + shiftX * cosine - shiftY * sine
        let middleY = anchor.y + shiftX * sine + shiftY * cosine
        let halfX = (abs(cosine) * across + abs(sine) * down) / 2 + style.haloWidth
        let halfY = (abs(sine) * across + abs(cosine) * down) / 2 + style.haloWidth
        let box = Box(left: middleX - halfX, top: middleY - halfY, right: middleX + halfX, bottom: middleY + halfY)
        guard box.right > 0, box.bottom > 0, box.left < Double(canvas.width), box.top < Double(canvas.height),
            !staysWithin || isWithin(box, canvas), take(box, overlaps: style.overlaps)
        else { return false }
        let context = canvas.context
        cairo_save(context)
        cairo_translate(context, middleX, middleY)
        if anchor.angle != 0 { cairo_rotate(context, anchor.angle) }
        let halo = style.halo.map { (color: $0, width: style.haloWidth) }
        text.draw(style.color, halo: halo, x: (-across / 2).rounded(), y: (-down / 2).rounded())
        cairo_restore(context)
        return true
    }

    private func isWithin(_ box: Box, _ canvas: CairoCanvas) -> Bool {
        box.left >= 0 && box.top >= 0 && box.right <= Double(canvas.width) && box.bottom <= Double(canvas.height)
    }

    private mutating func take(_ box: Box, overlaps: Bool) -> Bool {
        let columns = Int((box.left / Self.cell).rounded(.down))...Int((box.right / Self.cell).rounded(.down))
        let rows = Int((box.top / Self.cell).rounded(.down))...Int((box.bottom / Self.cell).rounded(.down))
        let cells = rows.flatMap { row in columns.map { row * 4_096 + $0 } }
        if !overlaps, cells.contains(where: { taken[$0]?.contains { $0.meets(box) } == true }) { return false }
        for cell in cells { taken[cell, default: []].append(box) }
        return true
    }
}
