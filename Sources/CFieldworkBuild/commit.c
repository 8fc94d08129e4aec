#include "CFieldworkBuild.h"

#ifndef FIELDWORK_COMMIT
#define FIELDWORK_COMMIT ""
#endif

const char *fieldwork_commit(void) { return FIELDWORK_COMMIT; }
