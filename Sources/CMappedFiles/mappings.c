#define _GNU_SOURCE
#include "CMappedFiles.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// SQLite's functions for files can be replaced one by one (`xSetSystemCall`). Those that make and end mappings are, so that the
// handler of the signal knows which addresses are pages of a file that SQLite reads.

// No lock can be taken in a handler of a signal, so the table has a fixed size and its entries are written in an order that a
// reader can check. A mapping that finds no place is refused; SQLite reads that file without one then.
enum { places = 4096 };

typedef struct {
    // 0 where the place is free or being written.
    _Atomic uintptr_t start;
    _Atomic size_t length;
} Place;

static Place table[places];
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static size_t pageSize = 4096;
static struct sigaction former;

// Read by the handler, which runs on the thread that owns it. A program has it from its start; nothing is allocated for it.
static __thread unsigned long faults
#if defined(__GNUC__) && !defined(__APPLE__)
    __attribute__((tls_model("initial-exec")))
#endif
    ;

static Place *placeOf(uintptr_t address) {
    for (int index = 0; index < places; index++) {
        uintptr_t start = atomic_load(&table[index].start);
        if (start == 0 || address < start) continue;
        size_t length = atomic_load(&table[index].length);
        // Still the same entry: the length belongs to the start.
        if (address - start < length && atomic_load(&table[index].start) == start) return &table[index];
    }
    return 0;
}

static int keep(uintptr_t start, size_t length) {
    int isKept = 0;
    pthread_mutex_lock(&writing);
    for (int index = 0; index < places && !isKept; index++) {
        if (atomic_load(&table[index].start) != 0) continue;
        atomic_store(&table[index].length, length);
        atomic_store(&table[index].start, start);
        isKept = 1;
    }
    pthread_mutex_unlock(&writing);
    return isKept;
}

// Forgets what lies at an address and behind it; what lies before stays guarded.
static void forget(uintptr_t address) {
    pthread_mutex_lock(&writing);
    Place *place = placeOf(address);
    if (place) {
        uintptr_t start = atomic_load(&place->start);
        atomic_store(&place->start, 0);
        atomic_store(&place->length, address - start);
        if (address > start) atomic_store(&place->start, start);
    }
    pthread_mutex_unlock(&writing);
}

static void *mapping(void *wish, size_t length, int protection, int flags, int file, off_t offset) {
    void *start = mmap(wish, length, protection, flags, file, offset);
    // What can be written is no file of data: the index of a log.
    if (start == MAP_FAILED || protection & PROT_WRITE || keep((uintptr_t)start, length)) return start;
    munmap(start, length);
    errno = ENOMEM;
    return MAP_FAILED;
}

static int unmapping(void *start, size_t length) {
    // First: once the addresses are free, another thread may map something else there.
    forget((uintptr_t)start);
    return munmap(start, length);
}

#ifdef __linux__
static void *remapping(void *start, size_t length, size_t newLength, int flags, ...) {
    // Looked for first: once it has moved, another thread may map something else there.
    Place *place = placeOf((uintptr_t)start);
    void *moved = mremap(start, length, newLength, flags);
    // Where it failed the mapping is as it was; SQLite ends it then.
    if (moved == MAP_FAILED) return moved;
    // The place is kept for it: were there none left, SQLite would end a mapping at an address that may be another's by now.
    pthread_mutex_lock(&writing);
    if (place) {
        atomic_store(&place->start, 0);
        atomic_store(&place->length, newLength);
        atomic_store(&place->start, (uintptr_t)moved);
    }
    pthread_mutex_unlock(&writing);
    return moved;
}
#endif

static void handle(int signal, siginfo_t *information, void *context) {
    int error = errno;
    uintptr_t address = (uintptr_t)information->si_addr;
    if (placeOf(address)) {
        void *page = (void *)(address & ~(uintptr_t)(pageSize - 1));
        void *zeros = mmap(page, pageSize, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros != MAP_FAILED) {
            faults++;
            errno = error;
            return;
        }
    }
    errno = error;
    if (former.sa_flags & SA_SIGINFO) {
        former.sa_sigaction(signal, information, context);
    } else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
        former.sa_handler(signal);
    } else {
        // The same access fails again and ends the process, as it would have without us.
        struct sigaction usual;
        memset(&usual, 0, sizeof usual);
        usual.sa_handler = SIG_DFL;
        sigaction(SIGBUS, &usual, 0);
    }
}

static int isGuarded = 0;

static void guard(void) {
    sqlite3_initialize();
    sqlite3_vfs *files = sqlite3_vfs_find("unix");
    // The function for another one of its calls came with the third version.
    if (!files || files->iVersion < 3 || !files->xSetSystemCall) return;
    pageSize = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &former) != 0) return;
    if (files->xSetSystemCall(files, "mmap", (sqlite3_syscall_ptr)mapping) != SQLITE_OK) return;
    if (files->xSetSystemCall(files, "munmap", (sqlite3_syscall_ptr)unmapping) != SQLITE_OK) return;
#ifdef __linux__
    if (files->xSetSystemCall(files, "mremap", (sqlite3_syscall_ptr)remapping) != SQLITE_OK) return;
#endif
    isGuarded = 1;
}

int fieldwork_guardMappings(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, guard);
    return isGuarded;
}

unsigned long fieldwork_mappingFaults(void) { return faults; }
