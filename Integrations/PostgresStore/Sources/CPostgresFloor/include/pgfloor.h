/*
 * The floor: what a C program on libpq needs for the statements that the store runs.
 *
 * Statement texts are those that the server has logged for the store. Each is prepared once; parameters
 * and results are in the binary format, and one call of PQexecPrepared is one round trip. Rows go into an
 * array of structs, and text is copied. Nothing is uniqued, and no version is compared: the floor does less.
 */
#ifndef PGFLOOR_H
#define PGFLOOR_H

#include <stddef.h>
#include <stdint.h>

typedef struct pgfloor_connection pgfloor_connection;

/* One row of the table of moods; a country of 0 is NULL. Text belongs to the row. */
typedef struct {
  int64_t key, version, rank, stamp, country;
  int32_t entity, votes, flags;
  int16_t kind;
  double latitude, longitude;
  char *name, *note;
} pgfloor_mood;

/* Connects. NULL: no connection. */
pgfloor_connection *pgfloor_connect(const char *uri);
void pgfloor_close(pgfloor_connection *connection);
const char *pgfloor_message(pgfloor_connection *connection);

/* Runs statements without parameters in one round trip. 0: done. */
int pgfloor_run(pgfloor_connection *connection, const char *sql);

/* Prepares a statement under a name; the types are the numbers of those of the parameters. 0: done. */
int pgfloor_prepare(
    pgfloor_connection *connection, const char *name, const char *sql, const uint32_t *types,
    int count);

/* Executes a statement without parameters, and ignores its rows. 0: done. */
int pgfloor_execute(pgfloor_connection *connection, const char *name);

/* Obtains blocks of keys from a sequence: the statement's parameters are its name and their number. */
long pgfloor_keys(
    pgfloor_connection *connection, const char *name, const char *sequence, int64_t count,
    int64_t *keys);

/* Each returns the number of rows, -1 for an error. The rows are the caller's to free. */
long pgfloor_moods(pgfloor_connection *connection, const char *name, pgfloor_mood **rows);

/* Reads one row for each key; the statement's one parameter is an array of one key. */
long pgfloor_faults(
    pgfloor_connection *connection, const char *name, const int64_t *keys, size_t count,
    pgfloor_mood *rows);

/*
 * Inserts rows with one statement, whose parameters are arrays of the columns in the order key, entity,
 * version, flags, kind, latitude, longitude, name, note, rank, stamp, votes, country. It returns the keys.
 */
long pgfloor_insert(
    pgfloor_connection *connection, const char *name, const pgfloor_mood *rows, size_t count);

/* Updates the rank of rows; the parameters are arrays of keys, versions, and ranks. */
long pgfloor_update(
    pgfloor_connection *connection, const char *name, const pgfloor_mood *rows, size_t count);

void pgfloor_free_moods(pgfloor_mood *rows, long count);

uint64_t pgfloor_now(void);

#endif
