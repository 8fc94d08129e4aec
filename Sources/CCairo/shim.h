#include <cairo.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <fontconfig/fontconfig.h>
#include <stddef.h>

// What is used of pango. Its headers are not included: the flags that pkg-config gives for them (-pthread) are refused by the
// package manager with a warning at each build.
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoFontDescription PangoFontDescription;

PangoLayout *pango_cairo_create_layout(cairo_t *cr);
void pango_cairo_show_layout(cairo_t *cr, PangoLayout *layout);
void pango_cairo_layout_path(cairo_t *cr, PangoLayout *layout);
void pango_layout_set_text(PangoLayout *layout, const char *text, int length);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *description);
void pango_layout_set_alignment(PangoLayout *layout, int alignment);
void pango_layout_get_pixel_size(PangoLayout *layout, int *width, int *height);
PangoFontDescription *pango_font_description_new(void);
void pango_font_description_free(PangoFontDescription *description);
void pango_font_description_set_family(PangoFontDescription *description, const char *family);
void pango_font_description_set_weight(PangoFontDescription *description, int weight);
void pango_font_description_set_style(PangoFontDescription *description, int style);
void pango_font_description_set_absolute_size(PangoFontDescription *description, double size);
void g_object_unref(void *object);

enum {
    fieldwork_alignCenter = 1,
    fieldwork_styleNormal = 0,
    fieldwork_styleItalic = 2,
    fieldwork_weightNormal = 400,
    fieldwork_weightBold = 700,
    // Pango's units on a pixel.
    fieldwork_pangoScale = 1024,
};

// Without a font pango ends the process, so that it must be known before there is text.
static inline int fieldwork_hasFonts(void) {
    FcFontSet *set = FcInit() ? FcConfigGetFonts(NULL, FcSetSystem) : NULL;
    return set != NULL && set->nfont > 0;
}
