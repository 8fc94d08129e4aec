import CCairo
import FieldworkGeometry
import FieldworkREST
import Foundation

/// Draws symbols with cairo: in images of maps and in their legends alike.
struct SymbolPainter {
    let canvas: CairoCanvas
    /// Pixels of the image on a pixel of 96 to the inch.
    let scale: Double

    private var context: OpaquePointer { canvas.context }

    // MARK: Markers

    /// - Parameters:
    ///   - x, y: the place of the feature.
    ///   - variables: what takes the place of the symbol's own size, colour and rotation.
    func draw(_ marker: MarkerLook, x: Double, y: Double, _ variables: VisualVariables.Result = .init()) {
        let radius = variables.size.map { max(Double($0) / 2, 0.5) * scale } ?? marker.radius
        cairo_save(context)
        cairo_translate(context, x + marker.offset.x, y - marker.offset.y)
        // The protocol counts the angle of a symbol against the clock and cairo with it, for y grows downwards.
        let degrees = variables.rotation.map(Double.init) ?? -marker.angle
        if degrees != 0 { cairo_rotate(context, degrees * .pi / 180) }
        addPath(marker.shape, radius)
        let opacity = variables.opacity.map(Double.init) ?? 1
        if let fill = variables.color.map(Self.swatch) ?? marker.fill, !marker.shape.isOpen {
            canvas.setColor(fill, opacity: opacity)
            cairo_fill_preserve(context)
        }
        if let outline = marker.outline, outline.width > 0 {
            let color = marker.shape.isOpen ? variables.color.map(Self.swatch) ?? outline.color : outline.color
            canvas.setColor(color, opacity: opacity)
            cairo_set_line_width(context, outline.width)
            cairo_set_line_join(context, CAIRO_LINE_JOIN_MITER)
            cairo_stroke_preserve(context)
        }
        cairo_new_path(context)
        cairo_restore(context)
    }

    private func addPath(_ shape: MarkerShape, _ radius: Double) {
        cairo_new_path(context)
        switch shape {
        case .circle: cairo_arc(context, 0, 0, radius, 0, 2 * .pi)
        case .square, .diamond, .triangle:
            for corner in shape.corners { cairo_line_to(context, corner.x * radius, -corner.y * radius) }
            cairo_close_path(context)
        case .cross, .x:
            let reach = shape == .x ? radius * 0.5.squareRoot() : 0
            let ends: [(Double, Double)] =
                shape == .x ? [(reach, reach), (reach, -reach)] : [(radius, 0), (0, radius)]
            for (across, down) in ends {
                cairo_move_to(context, -across, -down)
                cairo_line_to(context, across, down)
            }
        }
    }

    static func swatch(_ color: SIMD4<UInt8>) -> SwatchColor {
        SwatchColor(red: Double(color.x), green: Double(color.y), blue: Double(color.z), opacity: Double(color.w) / 255)
    }

    /// Draws a picture in its size around a place.
    func draw(
        _ picture: SymbolLook.PictureLook, _ pixels: SymbolPixels, x: Double, y: Double,
        _ variables: VisualVariables.Result = .init()
    ) {
        // A size that varies is that of the longer side.
        let grown = variables.size.map { Double($0) * scale / max(picture.width, picture.height, 1) } ?? 1
        cairo_save(context)
        cairo_translate(context, x + picture.offset.x, y - picture.offset.y)
        let degrees = variables.rotation.map(Double.init) ?? -picture.angle
        if degrees != 0 { cairo_rotate(context, degrees * .pi / 180) }
        let (across, down) = (picture.width * grown, picture.height * grown)
        cairo_translate(context, -across / 2, -down / 2)
        cairo_scale(context, across / Double(pixels.width), down / Double(pixels.height))
        cairo_set_source_surface(context, pixels.surface, 0, 0)
        cairo_paint_with_alpha(context, variables.opacity.map(Double.init) ?? 1)
        cairo_restore(context)
    }

    // MARK: Lines and areas

    /// Draws the current path as a line, and forgets it.
    func stroke(_ stroke: SymbolStroke, _ variables: VisualVariables.Result = .init()) {
        let width = variables.size.map { Double($0) * scale } ?? stroke.width
        canvas.setColor(
            variables.color.map(Self.swatch) ?? stroke.color, opacity: variables.opacity.map(Double.init) ?? 1)
        cairo_set_line_width(context, width)
        cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
        let dashes = stroke.dashes.map { $0 * max(width, scale) }
        // Dashes that are shorter than a pixel can't be told apart, and there would be millions of them.
        if dashes.reduce(0, +) < 1 {
            cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
            cairo_stroke(context)
            return
        }
        cairo_set_line_cap(context, CAIRO_LINE_CAP_BUTT)
        cairo_set_dash(context, dashes, Int32(dashes.count), 0)
        cairo_stroke(context)
        cairo_set_dash(context, nil, 0, 0)
    }

    /// Fills the current path and draws its outline, and forgets it.
    func fill(
        _ area: SymbolLook.AreaLook, _ picture: SymbolPixels?, _ variables: VisualVariables.Result = .init()
    ) {
        let opacity = variables.opacity.map(Double.init) ?? 1
        if let look = area.picture, let picture {
            tiled(look, picture, opacity)
        } else if let color = variables.color.map(Self.swatch) ?? area.color {
            cairo_set_fill_rule(context, CAIRO_FILL_RULE_EVEN_ODD)
            if let hatch = area.hatch {
                hatched(hatch, color, opacity)
            } else {
                canvas.setColor(color, opacity: opacity)
                cairo_fill_preserve(context)
            }
        }
        if let outline = area.outline, outline.width > 0 {
            stroke(outline, VisualVariables.Result(size: nil, color: nil, opacity: variables.opacity))
        } else {
            cairo_new_path(context)
        }
    }

    /// Fills the current path, which stays, with a picture beside itself.
    private func tiled(_ look: SymbolLook.PictureLook, _ picture: SymbolPixels, _ opacity: Double) {
        cairo_save(context)
        cairo_set_fill_rule(context, CAIRO_FILL_RULE_EVEN_ODD)
        let path = cairo_copy_path(context)
        defer { cairo_path_destroy(path) }
        cairo_clip(context)
        cairo_scale(context, look.width / Double(picture.width), look.height / Double(picture.height))
        cairo_set_source_surface(context, picture.surface, 0, 0)
        cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_REPEAT)
        cairo_paint_with_alpha(context, opacity)
        cairo_restore(context)
        cairo_new_path(context)
        cairo_append_path(context, path)
    }

    /// Draws the lines of a hatched area within the current path, which stays. They run through the same places in the whole
    /// image, so that those of neighbours join.
    private func hatched(_ hatch: FillHatch, _ color: SwatchColor, _ opacity: Double) {
        var (left, top, right, bottom) = (0.0, 0.0, 0.0, 0.0)
        cairo_path_extents(context, &left, &top, &right, &bottom)
        let path = cairo_copy_path(context)
        defer { cairo_path_destroy(path) }
        cairo_save(context)
        cairo_clip(context)
        (left, top) = (max(left, -16), max(top, -16))
        (right, bottom) = (min(right, Double(canvas.width) + 16), min(bottom, Double(canvas.height) + 16))
        // Lines nearer than a pixel would look like a filled area, and take as long as there are many.
        let step = max(FillHatch.step * scale, 1)
        func each(_ low: Double, _ high: Double, _ line: (Double) -> Void) {
            guard high > low else { return }
            for number in Int((low / step).rounded(.down))...Int((high / step).rounded(.up)) {
                line((Double(number) + 0.125) * step)
            }
        }
        func add(_ fromX: Double, _ fromY: Double, _ toX: Double, _ toY: Double) {
            cairo_move_to(context, fromX, fromY)
            cairo_line_to(context, toX, toY)
        }
        let height = bottom - top
        for direction in hatch.directions where right > left && bottom > top {
            switch direction {
            case .horizontal: each(top, bottom) { add(left, $0, right, $0) }
            case .vertical: each(left, right) { add($0, top, $0, bottom) }
            case .falling: each(left - bottom, right - top) { add(top + $0, top, bottom + $0, bottom) }
            case .rising: each(left + top, right + bottom) { add($0 - top, top, $0 - top - height, bottom) }
            }
        }
        canvas.setColor(color, opacity: opacity)
        cairo_set_line_cap(context, CAIRO_LINE_CAP_BUTT)
        cairo_set_line_width(context, scale)
        cairo_stroke(context)
        cairo_restore(context)
        cairo_new_path(context)
        cairo_append_path(context, path)
    }
}
