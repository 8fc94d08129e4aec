import CCairo
import FieldworkREST

/// How letters look.
struct TextFont: Sendable, Hashable {
    /// What the system has not, is set in another family.
    var family = "Noto Sans"
    /// In pixels of the image.
    var size: Double
    var isBold = false
    var isItalic = false
}

/// Sets texts on a canvas, one after the other. It belongs to the task of its canvas.
final class TextLayout {
    private let canvas: CairoCanvas
    private let layout: OpaquePointer

    /// nil on a system without fonts.
    init?(_ canvas: CairoCanvas) {
        guard fieldwork_hasFonts() != 0, let layout = pango_cairo_create_layout(canvas.context) else { return nil }
        self.canvas = canvas
        self.layout = layout
        pango_layout_set_alignment(layout, Int32(fieldwork_alignCenter))
    }

    deinit { g_object_unref(UnsafeMutableRawPointer(layout)) }

    func setFont(_ font: TextFont) {
        guard let description = pango_font_description_new() else { return }
        defer { pango_font_description_free(description) }
        pango_font_description_set_family(description, "\(font.family), Noto Sans, DejaVu Sans, Sans")
        pango_font_description_set_weight(
            description, Int32(font.isBold ? fieldwork_weightBold : fieldwork_weightNormal))
        pango_font_description_set_style(
            description, Int32(font.isItalic ? fieldwork_styleItalic : fieldwork_styleNormal))
        pango_font_description_set_absolute_size(description, font.size * Double(fieldwork_pangoScale))
        pango_layout_set_font_description(layout, description)
    }

    /// - Returns: the pixels that the text takes.
    func set(_ text: String) -> (across: Double, down: Double) {
        pango_layout_set_text(layout, text, -1)
        var (width, height) = (Int32(0), Int32(0))
        pango_layout_get_pixel_size(layout, &width, &height)
        return (Double(width), Double(height))
    }

    /// Draws the text that was set last.
    /// - Parameters:
    ///   - x, y: the upper left corner.
    ///   - halo: what surrounds the letters, with its width in pixels.
    func draw(_ color: SwatchColor, halo: (color: SwatchColor, width: Double)? = nil, x: Double, y: Double) {
        let context = canvas.context
        cairo_move_to(context, x, y)
        if let halo {
            pango_cairo_layout_path(context, layout)
            canvas.setColor(halo.color)
            cairo_set_line_width(context, 2 * halo.width)
            cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND)
            cairo_stroke(context)
            cairo_move_to(context, x, y)
        }
        canvas.setColor(color)
        pango_cairo_show_layout(context, layout)
    }
}
