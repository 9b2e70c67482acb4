/*
 * The floor: what a C program on libsqlite3 needs for the statements that the framework runs.
 *
 * Statement texts come from the trace of the framework's own run, so they are the same text. Rows go
 * into an array of structs, text is copied into blocks of malloc. Statements are prepared once for
 * each text and kept. No NULL is looked for in numbers, nothing is uniqued: the floor does less.
 */
#ifndef CFLOOR_H
#define CFLOOR_H

#include <stddef.h>
#include <stdint.h>

typedef struct cfloor_database cfloor_database;

/* One row of the table of moods. Text belongs to the row. */
typedef struct {
  int64_t key, version, rank, stamp, country;
  int32_t votes, flags, kind;
  double latitude, longitude;
  char *name, *note;
} cfloor_mood;

/* One row of the table of countries. */
typedef struct {
  int64_t key, version;
  char *name;
} cfloor_country;

typedef struct {
  int64_t entity, key;
} cfloor_identity;

/* Where a statement has each column: of a SELECT's row from 0, of an INSERT's values from 1. */
typedef struct {
  int key, entity, version, rank, stamp, country, votes, flags, kind, latitude, longitude, name,
      note;
} cfloor_columns;

/* Opens a file as the framework does (no mutex) and runs the given statements on it. NULL: error. */
cfloor_database *cfloor_open(const char *path, const char *const *pragmas, size_t count);
void cfloor_close(cfloor_database *database);
const char *cfloor_message(cfloor_database *database);

/* Makes values the rows of the table _Z_intarray0. They are not copied. */
void cfloor_bind_array(cfloor_database *database, const int64_t *values, size_t count);

/* Runs one statement that gives no rows that matter. Binds integers. 0: done. */
int cfloor_run(cfloor_database *database, const char *sql, const int64_t *binds, int count);

/* Each returns the number of rows, -1 for an error. The array is the caller's to free. */
long cfloor_moods(cfloor_database *database, const char *sql, cfloor_mood **rows);
long cfloor_countries(cfloor_database *database, const char *sql, cfloor_country **rows);
long cfloor_identities(cfloor_database *database, const char *sql, cfloor_identity **rows);

/* Reads one row for each key, by the one parameter of the statement. */
long cfloor_moods_by_key(
    cfloor_database *database, const char *sql, const int64_t *keys, size_t count,
    cfloor_mood *rows);

/* Inserts rows; the keys and the version are the rows' own. 0: done. */
int cfloor_insert(
    cfloor_database *database, const char *sql, const cfloor_columns *columns, int64_t entity,
    const cfloor_mood *rows, size_t count);

void cfloor_free_moods(cfloor_mood *rows, long count);
void cfloor_free_countries(cfloor_country *rows, long count);

/* The trace: what SQLite itself says was run, on connections opened until as many ends came. */
void cfloor_trace_begin(void);
void cfloor_trace_end(void);
size_t cfloor_trace_count(void);
const char *cfloor_trace_text(size_t index);
long cfloor_trace_runs(size_t index);
long cfloor_trace_rows(size_t index);
void cfloor_trace_clear(void);

/*
 * A script: the statements of a trace with their values, in order, and when the connections of each were
 * closed. The floor runs it on a copy of the file, each statement prepared when it runs.
 */
typedef struct cfloor_script cfloor_script;
/* Records until the script is taken; only while there is a trace. */
void cfloor_script_begin(void);
cfloor_script *cfloor_script_take(void);
/* Runs the statements; connections that the script doesn't close stay open. NULL: done; or the error. */
const char *cfloor_script_run(cfloor_script *script, const char *path);
/* Closes the connections that are open. */
void cfloor_script_close(cfloor_script *script);
void cfloor_script_free(cfloor_script *script);

/*
 * What the measured part that ran last did: statements (transactions and pragmas apart) and rows on
 * traced connections; blocks allocated, when libCAllocations was loaded ahead.
 */
typedef struct {
  long statements, rows, allocations;
  /* Nanoseconds that threads of the process were running; without what they waited for. */
  uint64_t processor;
} cfloor_counts;
void cfloor_measured_begin(void);
void cfloor_measured_end(void);
cfloor_counts cfloor_measured_last(void);
/* Totals of the trace since the process began; no allocations. */
cfloor_counts cfloor_trace_totals(void);

/*
 * The least that a reader of a log does: finds the lines, adds up the times, and counts the
 * executions of each different statement. No message continues on another line. -1: error.
 */
typedef struct {
  long lines, statements, executions, microseconds;
} cfloor_log;
int cfloor_read_log(const char *path, cfloor_log *log);

/* Bytes of small blocks in use, bytes of large blocks in use, the largest resident size so far. */
typedef struct {
  size_t small, large, peak;
} cfloor_memory;
/* Sends blocks of 64 KiB and more to mmap, so that tables and objects are told apart. */
void cfloor_memory_prepare(void);
cfloor_memory cfloor_memory_now(void);

uint64_t cfloor_now(void);
const char *cfloor_sqlite_version(void);

#endif
