#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/* Swift cannot spell SQLITE_TRANSIENT, a function pointer made of -1. */
static inline int cdprof_bind_text(
    sqlite3_stmt *statement, int index, const unsigned char *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int cdprof_bind_text_in_place(
    sqlite3_stmt *statement, int index, const unsigned char *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_text64(
      statement, index, bytes ? (const char *)bytes : "", count, SQLITE_STATIC, SQLITE_UTF8);
}

/* A null pointer would bind NULL; an empty blob is a value. */
static inline int cdprof_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline int cdprof_bind_blob_in_place(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_STATIC);
}

static inline void cdprof_result_text(
    sqlite3_context *context, const unsigned char *bytes, sqlite3_uint64 count) {
  sqlite3_result_text64(
      context, bytes ? (const char *)bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void cdprof_result_blob(
    sqlite3_context *context, const void *bytes, sqlite3_uint64 count) {
  sqlite3_result_blob64(context, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

/* Swift can't call a variadic function. */
static inline int cdprof_db_config(sqlite3 *database, int option, int isOn) {
  return sqlite3_db_config(database, option, isOn, (int *)0);
}

/* SQLite casts between these and their first members, so C lays them out. */
typedef struct cdprof_intarray_table {
  sqlite3_vtab base;
  void *array;
} cdprof_intarray_table;

typedef struct cdprof_intarray_cursor {
  sqlite3_vtab_cursor base;
  void *values;
  sqlite3_int64 count;
  sqlite3_int64 index;
} cdprof_intarray_cursor;

#endif
