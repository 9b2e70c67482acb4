#include "cfloor.h"
#include "database.h"

#include <stdlib.h>
#include <string.h>

static char *copy_text(sqlite3_stmt *statement, int column) {
  const unsigned char *bytes = sqlite3_column_text(statement, column);
  if (!bytes) return NULL;
  size_t count = (size_t)sqlite3_column_bytes(statement, column);
  char *copy = malloc(count + 1);
  memcpy(copy, bytes, count);
  copy[count] = 0;
  return copy;
}

static int column_named(sqlite3_stmt *statement, const char *name) {
  for (int i = 0; i < sqlite3_column_count(statement); i++)
    if (strcmp(sqlite3_column_name(statement, i), name) == 0) return i;
  return -1;
}

static cfloor_columns columns_of(sqlite3_stmt *statement) {
  return (cfloor_columns){
      .key = column_named(statement, "Z_PK"),
      .entity = column_named(statement, "Z_ENT"),
      .version = column_named(statement, "Z_OPT"),
      .rank = column_named(statement, "ZRANK"),
      .stamp = column_named(statement, "ZSTAMP"),
      .country = column_named(statement, "ZCOUNTRY"),
      .votes = column_named(statement, "ZVOTES"),
      .flags = column_named(statement, "ZFLAGS"),
      .kind = column_named(statement, "ZKIND"),
      .latitude = column_named(statement, "ZLATITUDE"),
      .longitude = column_named(statement, "ZLONGITUDE"),
      .name = column_named(statement, "ZNAME"),
      .note = column_named(statement, "ZNOTE"),
  };
}

static inline void read_mood(sqlite3_stmt *s, const cfloor_columns *c, cfloor_mood *row) {
  row->key = sqlite3_column_int64(s, c->key);
  row->version = sqlite3_column_int64(s, c->version);
  row->rank = sqlite3_column_int64(s, c->rank);
  row->stamp = sqlite3_column_int64(s, c->stamp);
  row->country = sqlite3_column_int64(s, c->country);
  row->votes = sqlite3_column_int(s, c->votes);
  row->flags = sqlite3_column_int(s, c->flags);
  row->kind = sqlite3_column_int(s, c->kind);
  row->latitude = sqlite3_column_double(s, c->latitude);
  row->longitude = sqlite3_column_double(s, c->longitude);
  row->name = copy_text(s, c->name);
  row->note = copy_text(s, c->note);
}

static void *grown(void *array, size_t *capacity, size_t size) {
  *capacity = *capacity ? *capacity * 2 : 64;
  return realloc(array, *capacity * size);
}

long cfloor_moods(cfloor_database *database, const char *sql, cfloor_mood **rows) {
  sqlite3_stmt *statement = cfloor_statement(database, sql);
  if (!statement) return -1;
  cfloor_columns columns = columns_of(statement);
  size_t count = 0, capacity = 0;
  cfloor_mood *array = NULL;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (count == capacity) array = grown(array, &capacity, sizeof *array);
    read_mood(statement, &columns, &array[count++]);
  }
  sqlite3_reset(statement);
  *rows = array;
  return code == SQLITE_DONE ? (long)count : -1;
}

long cfloor_countries(cfloor_database *database, const char *sql, cfloor_country **rows) {
  sqlite3_stmt *statement = cfloor_statement(database, sql);
  if (!statement) return -1;
  cfloor_columns columns = columns_of(statement);
  size_t count = 0, capacity = 0;
  cfloor_country *array = NULL;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (count == capacity) array = grown(array, &capacity, sizeof *array);
    cfloor_country *row = &array[count++];
    row->key = sqlite3_column_int64(statement, columns.key);
    row->version = sqlite3_column_int64(statement, columns.version);
    row->name = copy_text(statement, columns.name);
  }
  sqlite3_reset(statement);
  *rows = array;
  return code == SQLITE_DONE ? (long)count : -1;
}

long cfloor_identities(cfloor_database *database, const char *sql, cfloor_identity **rows) {
  sqlite3_stmt *statement = cfloor_statement(database, sql);
  if (!statement) return -1;
  cfloor_columns columns = columns_of(statement);
  size_t count = 0, capacity = 0;
  cfloor_identity *array = NULL;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (count == capacity) array = grown(array, &capacity, sizeof *array);
    cfloor_identity *row = &array[count++];
    row->entity = columns.entity < 0 ? 0 : sqlite3_column_int64(statement, columns.entity);
    row->key = sqlite3_column_int64(statement, columns.key);
  }
  sqlite3_reset(statement);
  *rows = array;
  return code == SQLITE_DONE ? (long)count : -1;
}

long cfloor_moods_by_key(
    cfloor_database *database, const char *sql, const int64_t *keys, size_t count,
    cfloor_mood *rows) {
  sqlite3_stmt *statement = cfloor_statement(database, sql);
  if (!statement) return -1;
  cfloor_columns columns = columns_of(statement);
  long found = 0;
  for (size_t i = 0; i < count; i++) {
    sqlite3_bind_int64(statement, 1, keys[i]);
    if (sqlite3_step(statement) == SQLITE_ROW) read_mood(statement, &columns, &rows[found++]);
    sqlite3_reset(statement);
  }
  return found;
}

int cfloor_insert(
    cfloor_database *database, const char *sql, const cfloor_columns *c, int64_t entity,
    const cfloor_mood *rows, size_t count) {
  sqlite3_stmt *s = cfloor_statement(database, sql);
  if (!s) return -1;
  for (size_t i = 0; i < count; i++) {
    const cfloor_mood *row = &rows[i];
    sqlite3_bind_int64(s, c->key, row->key);
    sqlite3_bind_int64(s, c->entity, entity);
    sqlite3_bind_int64(s, c->version, row->version);
    sqlite3_bind_int64(s, c->rank, row->rank);
    sqlite3_bind_int64(s, c->stamp, row->stamp);
    if (row->country) sqlite3_bind_int64(s, c->country, row->country);
    else sqlite3_bind_null(s, c->country);
    sqlite3_bind_int(s, c->votes, row->votes);
    sqlite3_bind_int(s, c->flags, row->flags);
    sqlite3_bind_int(s, c->kind, row->kind);
    sqlite3_bind_double(s, c->latitude, row->latitude);
    sqlite3_bind_double(s, c->longitude, row->longitude);
    sqlite3_bind_text(s, c->name, row->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, c->note, row->note, -1, SQLITE_STATIC);
    int code = sqlite3_step(s);
    sqlite3_reset(s);
    if (code != SQLITE_DONE) return code;
  }
  sqlite3_clear_bindings(s);
  return 0;
}

void cfloor_free_moods(cfloor_mood *rows, long count) {
  for (long i = 0; i < count; i++) {
    free(rows[i].name);
    free(rows[i].note);
  }
  free(rows);
}

void cfloor_free_countries(cfloor_country *rows, long count) {
  for (long i = 0; i < count; i++) free(rows[i].name);
  free(rows);
}
