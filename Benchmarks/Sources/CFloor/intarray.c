#include "database.h"

#include <stdlib.h>

/* An eponymous virtual table of one column over an array of integers, read from end to end. */

typedef struct {
  sqlite3_vtab base;
  cfloor_database *database;
} table;

typedef struct {
  sqlite3_vtab_cursor base;
  const int64_t *values;
  size_t count, index;
} cursor;

static int connect_table(
    sqlite3 *handle, void *data, int count, const char *const *words, sqlite3_vtab **result,
    char **message) {
  (void)count, (void)words, (void)message;
  int code = sqlite3_declare_vtab(handle, "CREATE TABLE x(value INTEGER)");
  if (code != SQLITE_OK) return code;
  table *made = calloc(1, sizeof *made);
  made->database = data;
  *result = &made->base;
  return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base) {
  free(base);
  return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
  size_t count = ((table *)base)->database->value_count;
  if (count == 0) count = 100;
  info->estimatedCost = (double)count;
  info->estimatedRows = (sqlite3_int64)count;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **result) {
  (void)base;
  cursor *made = calloc(1, sizeof *made);
  *result = &made->base;
  return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
  free(base);
  return SQLITE_OK;
}

static int filter(
    sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
  (void)number, (void)text, (void)count, (void)values;
  cursor *own = (cursor *)base;
  cfloor_database *database = ((table *)base->pVtab)->database;
  own->values = database->values;
  own->count = database->value_count;
  own->index = 0;
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
  ((cursor *)base)->index++;
  return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *base) {
  return ((cursor *)base)->index >= ((cursor *)base)->count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int number) {
  (void)number;
  sqlite3_result_int64(context, ((cursor *)base)->values[((cursor *)base)->index]);
  return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *result) {
  *result = (sqlite3_int64)((cursor *)base)->index;
  return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = row_id,
};

int cfloor_register_array(cfloor_database *database) {
  return sqlite3_create_module(database->handle, "_Z_intarray0", &module, database);
}
