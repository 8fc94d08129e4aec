#include <zlib.h>

// deflateInit2 is a macro, which Swift does not import.
static inline int fieldwork_deflateInit2(z_streamp stream, int level, int windowBits) {
    return deflateInit2(stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
}

static inline int fieldwork_inflateInit2(z_streamp stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}
