#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

// The settings are of glibc alone; elsewhere nothing has to be set.
static inline void fieldwork_keepFreedMemory(int largestBlock, int bytes) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, largestBlock);
    mallopt(M_TRIM_THRESHOLD, bytes);
#endif
}

static inline void fieldwork_giveBackFreedMemory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
