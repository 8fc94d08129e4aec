#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Makes the list for an owner that was bound to a statement, in memory that stays for as long as it is bound. Returns SQLite's code.
typedef int (*fieldwork_ListIDs)(void *owner, const int64_t **ids, int64_t *count);

/// Gives a connection of SQLite the function `fieldwork_ids(owner)`, a table with the column `id`: the ids of a list, as they stand in it.
/// The owner is bound with `sqlite3_bind_pointer` under `type`, and asked for its list when rows are wanted: within the snapshot
/// that the statement reads.
///
/// Returns SQLite's code.
int fieldwork_addListedIDs(void *connection, const char *type, fieldwork_ListIDs list);

#ifdef __cplusplus
}
#endif
