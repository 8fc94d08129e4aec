#include "CFileParts.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <string.h>

// A database; the file of the VFS behind lies after it.
typedef struct {
    sqlite3_file file;
    sqlite3_int64 offset;
    sqlite3_int64 size;
} Part;

static sqlite3_vfs parts;
static sqlite3_vfs *usual;

static sqlite3_file *realOf(sqlite3_file *file) { return (sqlite3_file *)((Part *)file + 1); }

static int partClose(sqlite3_file *file) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xClose(real);
}

static int partRead(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    Part *part = (Part *)file;
    sqlite3_file *real = realOf(file);
    if (offset < 0 || count < 0) return SQLITE_IOERR_READ;
    sqlite3_int64 left = offset < part->size ? part->size - offset : 0;
    int there = left < count ? (int)left : count;
    if (there > 0) {
        int code = real->pMethods->xRead(real, bytes, there, part->offset + offset);
        // The larger file is shorter than the stretch says.
        if (code != SQLITE_OK) return code;
    }
    if (there == count) return SQLITE_OK;
    // As SQLite wants what lies beyond the end.
    memset((char *)bytes + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int partWrite(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    (void)file, (void)bytes, (void)count, (void)offset;
    return SQLITE_READONLY;
}

static int partTruncate(sqlite3_file *file, sqlite3_int64 size) {
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int partSync(sqlite3_file *file, int flags) {
    (void)file, (void)flags;
    return SQLITE_OK;
}

static int partSize(sqlite3_file *file, sqlite3_int64 *size) {
    *size = ((Part *)file)->size;
    return SQLITE_OK;
}

static int partLock(sqlite3_file *file, int level) {
    (void)file, (void)level;
    return SQLITE_OK;
}

static int partReservedLock(sqlite3_file *file, int *result) {
    (void)file;
    *result = 0;
    return SQLITE_OK;
}

static int partControl(sqlite3_file *file, int operation, void *argument) {
    (void)file, (void)operation, (void)argument;
    return SQLITE_NOTFOUND;
}

static int partSectorSize(sqlite3_file *file) {
    (void)file;
    return 4096;
}

static int partCharacteristics(sqlite3_file *file) {
    (void)file;
    return SQLITE_IOCAP_IMMUTABLE;
}

// The first version of the methods: without maps of memory, and without an index of a log.
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = partClose,
    .xRead = partRead,
    .xWrite = partWrite,
    .xTruncate = partTruncate,
    .xSync = partSync,
    .xFileSize = partSize,
    .xLock = partLock,
    .xUnlock = partLock,
    .xCheckReservedLock = partReservedLock,
    .xFileControl = partControl,
    .xSectorSize = partSectorSize,
    .xDeviceCharacteristics = partCharacteristics,
};

static int partOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *givenFlags) {
    (void)vfs;
    // Files for what does not fit into memory belong to nobody's package.
    if (!(flags & SQLITE_OPEN_MAIN_DB) || !name) return usual->xOpen(usual, name, file, flags, givenFlags);

    Part *part = (Part *)file;
    memset(part, 0, sizeof *part);
    part->offset = sqlite3_uri_int64(name, "offset", -1);
    part->size = sqlite3_uri_int64(name, "size", -1);
    if (part->offset < 0 || part->size < 0 || part->offset > INT64_MAX - part->size) return SQLITE_CANTOPEN;
    if (!(flags & SQLITE_OPEN_READONLY)) return SQLITE_READONLY;

    sqlite3_file *real = realOf(file);
    int code = usual->xOpen(usual, name, real, flags, givenFlags);
    // SQLite closes what has methods, also after an error.
    if (code != SQLITE_OK) {
        if (real->pMethods) real->pMethods->xClose(real);
        return code;
    }
    sqlite3_int64 whole = 0;
    code = real->pMethods->xFileSize(real, &whole);
    if (code != SQLITE_OK || part->offset > whole || part->size > whole - part->offset) {
        real->pMethods->xClose(real);
        return code == SQLITE_OK ? SQLITE_CORRUPT : code;
    }
    file->pMethods = &methods;
    return SQLITE_OK;
}

static const char *registered;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void registerParts(void) {
    sqlite3_initialize();
    usual = sqlite3_vfs_find(0);
    if (!usual) return;
    parts = *usual;
    parts.pNext = 0;
    parts.zName = "fieldwork-parts";
    parts.szOsFile = usual->szOsFile + (int)sizeof(Part);
    parts.xOpen = partOpen;
    if (sqlite3_vfs_register(&parts, 0) == SQLITE_OK) registered = parts.zName;
}

const char *fieldwork_fileParts(void) {
    pthread_once(&once, registerParts);
    return registered;
}
