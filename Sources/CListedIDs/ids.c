#include "CListedIDs.h"

#include <sqlite3.h>
#include <stdlib.h>

// What the function was added with.
typedef struct {
    const char *type;
    fieldwork_ListIDs list;
} Source;

typedef struct {
    sqlite3_vtab table;
    const Source *source;
} Table;

typedef struct {
    sqlite3_vtab_cursor cursor;
    const int64_t *ids;
    int64_t count;
    int64_t place;
} Cursor;

enum { idColumn = 0, ownerColumn = 1 };

static int connect(
    sqlite3 *connection, void *source, int count, const char *const *words, sqlite3_vtab **made, char **error) {
    (void)count, (void)words, (void)error;
    int code = sqlite3_declare_vtab(connection, "CREATE TABLE ids(id INTEGER, owner HIDDEN)");
    if (code != SQLITE_OK) return code;
    Table *table = calloc(1, sizeof(Table));
    if (!table) return SQLITE_NOMEM;
    table->source = source;
    *made = &table->table;
    return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *table) {
    free(table);
    return SQLITE_OK;
}

static int planned(sqlite3_vtab *table, sqlite3_index_info *plan) {
    (void)table;
    for (int i = 0; i < plan->nConstraint; i++) {
        if (plan->aConstraint[i].iColumn != ownerColumn || plan->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
        if (!plan->aConstraint[i].usable) break;
        plan->aConstraintUsage[i].argvIndex = 1;
        plan->aConstraintUsage[i].omit = 1;
        plan->estimatedCost = 1;
        plan->estimatedRows = 100;
        return SQLITE_OK;
    }
    // Without an owner there is no list.
    return SQLITE_CONSTRAINT;
}

static int opened(sqlite3_vtab *table, sqlite3_vtab_cursor **made) {
    (void)table;
    Cursor *cursor = calloc(1, sizeof(Cursor));
    if (!cursor) return SQLITE_NOMEM;
    *made = &cursor->cursor;
    return SQLITE_OK;
}

static int closed(sqlite3_vtab_cursor *cursor) {
    free(cursor);
    return SQLITE_OK;
}

static int filtered(sqlite3_vtab_cursor *own, int number, const char *name, int count, sqlite3_value **values) {
    (void)number, (void)name;
    Cursor *cursor = (Cursor *)own;
    const Source *source = ((Table *)own->pVtab)->source;
    cursor->ids = NULL;
    cursor->count = cursor->place = 0;
    void *owner = count > 0 ? sqlite3_value_pointer(values[0], source->type) : NULL;
    return owner ? source->list(owner, &cursor->ids, &cursor->count) : SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *own) {
    ((Cursor *)own)->place++;
    return SQLITE_OK;
}

static int isAtEnd(sqlite3_vtab_cursor *own) { return ((Cursor *)own)->place >= ((Cursor *)own)->count; }

static int column(sqlite3_vtab_cursor *own, sqlite3_context *context, int number) {
    if (number == idColumn) sqlite3_result_int64(context, ((Cursor *)own)->ids[((Cursor *)own)->place]);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *own, sqlite3_int64 *id) {
    *id = ((Cursor *)own)->place;
    return SQLITE_OK;
}

// Without a way to create it, it is there on every connection under its own name, and only there.
static const sqlite3_module module = {
    .xConnect = connect,
    .xDisconnect = disconnect,
    .xBestIndex = planned,
    .xOpen = opened,
    .xClose = closed,
    .xFilter = filtered,
    .xNext = next,
    .xEof = isAtEnd,
    .xColumn = column,
    .xRowid = rowid,
};

int fieldwork_addListedIDs(void *connection, const char *type, fieldwork_ListIDs list) {
    Source *source = malloc(sizeof(Source));
    if (!source) return SQLITE_NOMEM;
    *source = (Source){type, list};
    // Freed with the connection, and also where it can't be added.
    return sqlite3_create_module_v2(connection, "fieldwork_ids", &module, source, free);
}
