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
        guard !candidates.isEmpty, fieldwork_hasFonts() != 0,
            let layout = pango_cairo_create_layout(canvas.context)
        else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
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
            if last < 0 || !candidate.style.looksLike(candidates[last].style) { setFont(layout, candidate.style) }
            last = index
            if draw(candidate, layout, canvas) { drawn += 1 }
        }
    }

    private func setFont(_ layout: OpaquePointer, _ style: LabelClass) {
        guard let font = pango_font_description_new() else { return }
        defer { pango_font_description_free(font) }
        pango_font_description_set_family(font, "\(style.family), Noto Sans, DejaVu Sans, Sans")
        pango_font_description_set_weight(font, Int32(style.isBold ? fieldwork_weightBold : fieldwork_weightNormal))
        pango_font_description_set_style(font, Int32(style.isItalic ? fieldwork_styleItalic : fieldwork_styleNormal))
        pango_font_description_set_absolute_size(font, style.size * Double(fieldwork_pangoScale))
        pango_layout_set_font_description(layout, font)
        pango_layout_set_alignment(layout, Int32(fieldwork_alignCenter))
    }

    /// - Returns: whether there was room.
    private mutating func draw(_ candidate: Candidate, _ layout: OpaquePointer, _ canvas: CairoCanvas) -> Bool {
        pango_layout_set_text(layout, candidate.text, -1)
        var (width, height) = (Int32(0), Int32(0))
        pango_layout_get_pixel_size(layout, &width, &height)
        let (across, down) = (Double(width), Double(height))
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
        cairo_move_to(context, (-across / 2).rounded(), (-down / 2).rounded())
        if let halo = style.halo {
            pango_cairo_layout_path(context, layout)
            canvas.setColor(halo)
            cairo_set_line_width(context, 2 * style.haloWidth)
            cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
            cairo_stroke(context)
            cairo_move_to(context, (-across / 2).rounded(), (-down / 2).rounded())
        }
        canvas.setColor(style.color)
        pango_cairo_show_layout(context, layout)
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
