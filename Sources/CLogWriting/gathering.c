#include "CLogWriting.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// SQLite writes each page of a transaction into the write-ahead log with two calls, 24 bytes and the page. They lie one after the
// other, so here they wait in memory and go to the file in one call. What waits is written before
//
// - the log is synced: a commit is in the file before the sync that makes it durable, and an error of the write is one of the sync;
// - the connection reads the log, or asks for its size, shortens or closes it;
// - the connection gives up a lock, or tells others of its pages: what others may see is in the file, and bytes of a transaction
//   that was rolled back never come after what another program has written meanwhile.

// Where more comes it is written in several calls: SQLite's own files take no more than this at once.
enum { room = 0x1FFFF };

typedef struct Opened Opened;

// A database or a log; the file of the VFS behind lies after it.
struct Opened {
    sqlite3_file file;
    // Of a log its database's, of a database its log's; 0 while that is not open.
    Opened *other;
    // Of a database: whether its log's writes are gathered.
    int gathers;
    // Of a log.
    char *bytes;
    int count;
    sqlite3_int64 start;
};

static sqlite3_vfs gathering;
static sqlite3_vfs *usual;
static int realBytes;

static sqlite3_file *realOf(sqlite3_file *file) { return (sqlite3_file *)((Opened *)file + 1); }

static int writeWaiting(Opened *log) {
    if (!log || log->count == 0) return SQLITE_OK;
    sqlite3_file *real = realOf(&log->file);
    int count = log->count;
    // Also after an error: SQLite gives up the transaction, and the next one begins at the same place.
    log->count = 0;
    return real->pMethods->xWrite(real, log->bytes, count, log->start);
}

// Writes what waits of a log, then does the same to the file itself.
#define AFTER_WRITING(call)                                \
    sqlite3_file *real = realOf(file);                     \
    int code = writeWaiting((Opened *)file);               \
    return code == SQLITE_OK ? real->pMethods->call : code

static int logClose(sqlite3_file *file) {
    Opened *log = (Opened *)file;
    sqlite3_file *real = realOf(file);
    int written = writeWaiting(log);
    if (log->other) log->other->other = 0;
    free(log->bytes);
    int closed = real->pMethods->xClose(real);
    return written == SQLITE_OK ? closed : written;
}

static int logRead(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    AFTER_WRITING(xRead(real, bytes, count, offset));
}

static int logWrite(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    Opened *log = (Opened *)file;
    sqlite3_file *real = realOf(file);
    int gathers = log->other && log->other->gathers && count < room;
    if (log->count && (!gathers || offset != log->start + log->count || count > room - log->count)) {
        int code = writeWaiting(log);
        if (code != SQLITE_OK) return code;
    }
    if (!gathers) return real->pMethods->xWrite(real, bytes, count, offset);
    if (log->count == 0) log->start = offset;
    memcpy(log->bytes + log->count, bytes, (size_t)count);
    log->count += count;
    return SQLITE_OK;
}

static int logTruncate(sqlite3_file *file, sqlite3_int64 size) { AFTER_WRITING(xTruncate(real, size)); }
static int logSync(sqlite3_file *file, int flags) { AFTER_WRITING(xSync(real, flags)); }
static int logSize(sqlite3_file *file, sqlite3_int64 *size) { AFTER_WRITING(xFileSize(real, size)); }

static int logControl(sqlite3_file *file, int operation, void *argument) {
    AFTER_WRITING(xFileControl(real, operation, argument));
}

static int anyLock(sqlite3_file *file, int level) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xLock(real, level);
}

static int anyUnlock(sqlite3_file *file, int level) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xUnlock(real, level);
}

static int anyReservedLock(sqlite3_file *file, int *isLocked) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xCheckReservedLock(real, isLocked);
}

static int anySectorSize(sqlite3_file *file) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xSectorSize(real);
}

static int anyCharacteristics(sqlite3_file *file) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xDeviceCharacteristics(real);
}

static const sqlite3_io_methods logMethods = {
    .iVersion = 1,
    .xClose = logClose,
    .xRead = logRead,
    .xWrite = logWrite,
    .xTruncate = logTruncate,
    .xSync = logSync,
    .xFileSize = logSize,
    .xLock = anyLock,
    .xUnlock = anyUnlock,
    .xCheckReservedLock = anyReservedLock,
    .xFileControl = logControl,
    .xSectorSize = anySectorSize,
    .xDeviceCharacteristics = anyCharacteristics,
};

static int databaseClose(sqlite3_file *file) {
    Opened *database = (Opened *)file;
    sqlite3_file *real = realOf(file);
    if (database->other) database->other->other = 0;
    return real->pMethods->xClose(real);
}

static int databaseRead(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xRead(real, bytes, count, offset);
}

static int databaseWrite(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xWrite(real, bytes, count, offset);
}

static int databaseTruncate(sqlite3_file *file, sqlite3_int64 size) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xTruncate(real, size);
}

static int databaseSync(sqlite3_file *file, int flags) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xSync(real, flags);
}

static int databaseSize(sqlite3_file *file, sqlite3_int64 *size) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xFileSize(real, size);
}

static int databaseControl(sqlite3_file *file, int operation, void *argument) {
    sqlite3_file *real = realOf(file);
    if (operation == fieldwork_gatherLogWrites) {
        ((Opened *)file)->gathers = 1;
        return SQLITE_OK;
    }
    return real->pMethods->xFileControl(real, operation, argument);
}

static int databaseShmMap(sqlite3_file *file, int region, int size, int extends, void volatile **address) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xShmMap(real, region, size, extends, address);
}

static int databaseShmLock(sqlite3_file *file, int offset, int count, int flags) {
    sqlite3_file *real = realOf(file);
    // Nothing that was committed waits here, since a commit ends with a sync; so nobody has to be told of an error.
    if (flags & SQLITE_SHM_UNLOCK) writeWaiting(((Opened *)file)->other);
    return real->pMethods->xShmLock(real, offset, count, flags);
}

static void databaseShmBarrier(sqlite3_file *file) {
    sqlite3_file *real = realOf(file);
    writeWaiting(((Opened *)file)->other);
    real->pMethods->xShmBarrier(real);
}

static int databaseShmUnmap(sqlite3_file *file, int deletes) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xShmUnmap(real, deletes);
}

static int databaseFetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **page) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xFetch(real, offset, count, page);
}

static int databaseUnfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    sqlite3_file *real = realOf(file);
    return real->pMethods->xUnfetch(real, offset, page);
}

static const sqlite3_io_methods databaseMethods = {
    .iVersion = 3,
    .xClose = databaseClose,
    .xRead = databaseRead,
    .xWrite = databaseWrite,
    .xTruncate = databaseTruncate,
    .xSync = databaseSync,
    .xFileSize = databaseSize,
    .xLock = anyLock,
    .xUnlock = anyUnlock,
    .xCheckReservedLock = anyReservedLock,
    .xFileControl = databaseControl,
    .xSectorSize = anySectorSize,
    .xDeviceCharacteristics = anyCharacteristics,
    .xShmMap = databaseShmMap,
    .xShmLock = databaseShmLock,
    .xShmBarrier = databaseShmBarrier,
    .xShmUnmap = databaseShmUnmap,
    .xFetch = databaseFetch,
    .xUnfetch = databaseUnfetch,
};

static sqlite3_vfs *present(void) {
    // Whatever the default is now; what takes more memory for a file came later and is not used.
    sqlite3_vfs *now = sqlite3_vfs_find(0);
    return now && now->szOsFile <= realBytes ? now : usual;
}

static int openFile(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *givenFlags) {
    (void)vfs;
    sqlite3_vfs *real = present();
    Opened *opened = (Opened *)file;
    Opened *database = 0;
    if (flags & SQLITE_OPEN_WAL && name) {
        sqlite3_file *owner = sqlite3_database_file_object(name);
        if (owner && owner->pMethods == &databaseMethods) database = (Opened *)owner;
    }
    int isDatabase = flags & SQLITE_OPEN_MAIN_DB && name;
    char *bytes = database ? malloc(room) : 0;
    if (!isDatabase && !bytes) return real->xOpen(real, name, file, flags, givenFlags);

    memset(opened, 0, sizeof *opened);
    sqlite3_file *behind = realOf(file);
    int code = real->xOpen(real, name, behind, flags, givenFlags);
    // SQLite closes what has methods, also after an error.
    if (code != SQLITE_OK || behind->pMethods->iVersion < (isDatabase ? 3 : 1)) {
        if (behind->pMethods) behind->pMethods->xClose(behind);
        free(bytes);
        file->pMethods = 0;
        return code == SQLITE_OK ? SQLITE_CANTOPEN : code;
    }
    if (isDatabase) {
        file->pMethods = &databaseMethods;
    } else {
        opened->bytes = bytes;
        opened->other = database;
        database->other = opened;
        file->pMethods = &logMethods;
    }
    return SQLITE_OK;
}

static const char *registered = 0;

static void registerFiles(void) {
    sqlite3_initialize();
    usual = sqlite3_vfs_find(0);
    if (!usual) return;
    // Everything but the opening of files is the usual VFS's own, with what it keeps for itself.
    gathering = *usual;
    gathering.pNext = 0;
    gathering.zName = "fieldwork-log";
    // Another default, such as one of a test, may stand before this one and take a little more.
    realBytes = usual->szOsFile + 256;
    gathering.szOsFile = (int)sizeof(Opened) + realBytes;
    gathering.xOpen = openFile;
    if (sqlite3_vfs_register(&gathering, 0) == SQLITE_OK) registered = gathering.zName;
}

const char *fieldwork_gatheringFiles(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, registerFiles);
    return registered;
}
