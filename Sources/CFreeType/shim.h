#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_MODULE_H

// Swift does not import the macro.
static inline FT_Error fieldwork_loadUnhinted(FT_Face face, FT_ULong code) {
    return FT_Load_Char(face, code, FT_LOAD_NO_HINTING);
}
