#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// The name of a way to files (an SQLite VFS) that can gather what a transaction writes into its log: one large write instead of
/// two small ones for each page. Everything else goes to the default VFS as it is.
///
/// Returns 0 where it could not be registered; the default VFS does then.
const char *fieldwork_gatheringFiles(void);

/// The operation of `sqlite3_file_control` that has a connection, opened through that VFS, gather from here on. Only for connections
/// with `synchronous=FULL`: the sync before each commit is where a write that failed is told.
enum { fieldwork_gatherLogWrites = 0x46574C57 };

#ifdef __cplusplus
}
#endif
