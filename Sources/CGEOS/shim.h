// Only the re-entrant functions (…_r) are visible: each call names its context.
#define GEOS_USE_ONLY_R_API
#include <geos_c.h>
