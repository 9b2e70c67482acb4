#include "database.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

cfloor_database *cfloor_open(const char *path, const char *const *pragmas, size_t count) {
  cfloor_database *database = calloc(1, sizeof *database);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path, &database->handle, flags, NULL) != SQLITE_OK ||
      cfloor_register_array(database) != SQLITE_OK) {
    cfloor_close(database);
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    if (sqlite3_exec(database->handle, pragmas[i], NULL, NULL, NULL) != SQLITE_OK) {
      cfloor_close(database);
      return NULL;
    }
  }
  return database;
}

void cfloor_close(cfloor_database *database) {
  for (size_t i = 0; i < database->count; i++) {
    sqlite3_finalize(database->statements[i]);
    free(database->texts[i]);
  }
  sqlite3_close(database->handle);
  free(database);
}

const char *cfloor_message(cfloor_database *database) { return sqlite3_errmsg(database->handle); }

sqlite3_stmt *cfloor_statement(cfloor_database *database, const char *sql) {
  for (size_t i = 0; i < database->count; i++)
    if (strcmp(database->texts[i], sql) == 0) return database->statements[i];
  if (database->count == CFLOOR_STATEMENTS) return NULL;
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v3(
          database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
    return NULL;
  database->texts[database->count] = strdup(sql);
  database->statements[database->count++] = statement;
  return statement;
}

int cfloor_run(cfloor_database *database, const char *sql, const int64_t *binds, int count) {
  sqlite3_stmt *statement = cfloor_statement(database, sql);
  if (!statement) return -1;
  for (int i = 0; i < count; i++) sqlite3_bind_int64(statement, i + 1, binds[i]);
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {}
  sqlite3_reset(statement);
  return code == SQLITE_DONE ? 0 : code;
}

void cfloor_bind_array(cfloor_database *database, const int64_t *values, size_t count) {
  database->values = values;
  database->value_count = count;
}

uint64_t cfloor_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

const char *cfloor_sqlite_version(void) { return sqlite3_libversion(); }
