#include <sqlite3.h>

// `sqlite3_db_config` takes a variable list of arguments, which Swift can't give it. From here on the last connection of a file
// neither moves its log into it nor removes the log.
static inline int fieldwork_leaveLogOnClose(void *database) {
    return sqlite3_db_config((sqlite3 *)database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
