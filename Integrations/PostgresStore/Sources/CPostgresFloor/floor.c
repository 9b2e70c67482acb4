#include "pgfloor.h"

#include <endian.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INT8 = 20, TEXT = 25, FLOAT8 = 701 };

struct pgfloor_connection {
  PGconn *raw;
};

typedef struct {
  int key, entity, version, rank, stamp, country, votes, flags, kind, latitude, longitude, name,
      note;
} columns;

pgfloor_connection *pgfloor_connect(const char *uri) {
  PGconn *raw = PQconnectdb(uri);
  if (PQstatus(raw) != CONNECTION_OK) {
    PQfinish(raw);
    return NULL;
  }
  pgfloor_connection *connection = malloc(sizeof *connection);
  connection->raw = raw;
  return connection;
}

void pgfloor_close(pgfloor_connection *connection) {
  PQfinish(connection->raw);
  free(connection);
}

const char *pgfloor_message(pgfloor_connection *connection) {
  return PQerrorMessage(connection->raw);
}

static int finished(PGresult *result) {
  ExecStatusType status = PQresultStatus(result);
  PQclear(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? 0 : -1;
}

int pgfloor_run(pgfloor_connection *connection, const char *sql) {
  return finished(PQexec(connection->raw, sql));
}

int pgfloor_prepare(
    pgfloor_connection *connection, const char *name, const char *sql, const uint32_t *types,
    int count) {
  return finished(PQprepare(connection->raw, name, sql, count, types));
}

/* Reading */

static int64_t read_int8(const PGresult *r, int row, int column) {
  uint64_t bits;
  memcpy(&bits, PQgetvalue(r, row, column), sizeof bits);
  return (int64_t)be64toh(bits);
}

static int32_t read_int4(const PGresult *r, int row, int column) {
  uint32_t bits;
  memcpy(&bits, PQgetvalue(r, row, column), sizeof bits);
  return (int32_t)be32toh(bits);
}

static int16_t read_int2(const PGresult *r, int row, int column) {
  uint16_t bits;
  memcpy(&bits, PQgetvalue(r, row, column), sizeof bits);
  return (int16_t)be16toh(bits);
}

static double read_float8(const PGresult *r, int row, int column) {
  int64_t bits = read_int8(r, row, column);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static char *read_text(const PGresult *r, int row, int column) {
  size_t length = (size_t)PQgetlength(r, row, column);
  char *copy = malloc(length + 1);
  memcpy(copy, PQgetvalue(r, row, column), length);
  copy[length] = 0;
  return copy;
}

static columns columns_of(const PGresult *r) {
  return (columns){
      .key = PQfnumber(r, "z_pk"),
      .entity = PQfnumber(r, "z_ent"),
      .version = PQfnumber(r, "z_opt"),
      .rank = PQfnumber(r, "rank"),
      .stamp = PQfnumber(r, "stamp"),
      .country = PQfnumber(r, "country"),
      .votes = PQfnumber(r, "votes"),
      .flags = PQfnumber(r, "flags"),
      .kind = PQfnumber(r, "kind"),
      .latitude = PQfnumber(r, "latitude"),
      .longitude = PQfnumber(r, "longitude"),
      .name = PQfnumber(r, "name"),
      .note = PQfnumber(r, "note"),
  };
}

static int has_all(const columns *c) {
  const int *all = (const int *)c;
  for (size_t i = 0; i < sizeof *c / sizeof *all; i++) {
    if (all[i] < 0) return 0;
  }
  return 1;
}

/* Only the relationship can be NULL. */
static void read_mood(const PGresult *r, int row, const columns *c, pgfloor_mood *mood) {
  mood->key = read_int8(r, row, c->key);
  mood->entity = read_int4(r, row, c->entity);
  mood->version = read_int8(r, row, c->version);
  mood->rank = read_int8(r, row, c->rank);
  mood->stamp = read_int8(r, row, c->stamp);
  mood->country = PQgetisnull(r, row, c->country) ? 0 : read_int8(r, row, c->country);
  mood->votes = read_int4(r, row, c->votes);
  mood->flags = read_int4(r, row, c->flags);
  mood->kind = read_int2(r, row, c->kind);
  mood->latitude = read_float8(r, row, c->latitude);
  mood->longitude = read_float8(r, row, c->longitude);
  mood->name = read_text(r, row, c->name);
  mood->note = read_text(r, row, c->note);
}

long pgfloor_moods(pgfloor_connection *connection, const char *name, pgfloor_mood **rows) {
  PGresult *r = PQexecPrepared(connection->raw, name, 0, NULL, NULL, NULL, 1);
  columns c = columns_of(r);
  if (PQresultStatus(r) != PGRES_TUPLES_OK || !has_all(&c)) {
    PQclear(r);
    return -1;
  }
  int count = PQntuples(r);
  pgfloor_mood *array = malloc((size_t)count * sizeof *array);
  for (int row = 0; row < count; row++) read_mood(r, row, &c, &array[row]);
  PQclear(r);
  *rows = array;
  return count;
}

/* Parameters: arrays of one dimension, in a buffer that grows. */

typedef struct {
  char *bytes;
  size_t used, capacity;
} buffer;

static char *reserve(buffer *b, size_t count) {
  if (b->used + count > b->capacity) {
    b->capacity = (b->used + count) * 2;
    b->bytes = realloc(b->bytes, b->capacity);
  }
  b->used += count;
  return b->bytes + b->used - count;
}

static void put4(buffer *b, uint32_t value) {
  value = htobe32(value);
  memcpy(reserve(b, 4), &value, 4);
}

static void put8(buffer *b, uint64_t value) {
  value = htobe64(value);
  memcpy(reserve(b, 8), &value, 8);
}

static void begin_array(buffer *b, uint32_t type, size_t count, int has_null) {
  b->used = 0;
  put4(b, 1);
  put4(b, (uint32_t)has_null);
  put4(b, type);
  put4(b, (uint32_t)count);
  put4(b, 1);
}

static void put_integer(buffer *b, int64_t value) {
  put4(b, 8);
  put8(b, (uint64_t)value);
}

static void put_double(buffer *b, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put4(b, 8);
  put8(b, bits);
}

static void put_text(buffer *b, const char *text) {
  size_t length = strlen(text);
  put4(b, (uint32_t)length);
  memcpy(reserve(b, length), text, length);
}

static PGresult *execute(PGconn *raw, const char *name, const buffer *parameters, int count) {
  const char *values[16];
  int lengths[16], formats[16];
  for (int i = 0; i < count; i++) {
    values[i] = parameters[i].bytes;
    lengths[i] = (int)parameters[i].used;
    formats[i] = 1;
  }
  return PQexecPrepared(raw, name, count, values, lengths, formats, 1);
}

static long take_keys(PGresult *r) {
  long count = PQresultStatus(r) == PGRES_TUPLES_OK ? PQntuples(r) : -1;
  volatile int64_t sum = 0;
  for (int row = 0; row < count; row++) sum += read_int8(r, row, 0);
  PQclear(r);
  return count;
}

int pgfloor_execute(pgfloor_connection *connection, const char *name) {
  return finished(PQexecPrepared(connection->raw, name, 0, NULL, NULL, NULL, 1));
}

long pgfloor_keys(
    pgfloor_connection *connection, const char *name, const char *sequence, int64_t count,
    int64_t *keys) {
  buffer b[2] = {0};
  memcpy(reserve(&b[0], strlen(sequence)), sequence, strlen(sequence));
  put8(&b[1], (uint64_t)count);
  PGresult *r = execute(connection->raw, name, b, 2);
  long found = PQresultStatus(r) == PGRES_TUPLES_OK ? PQntuples(r) : -1;
  for (int row = 0; row < found; row++) keys[row] = read_int8(r, row, 0);
  PQclear(r);
  for (int i = 0; i < 2; i++) free(b[i].bytes);
  return found;
}

long pgfloor_faults(
    pgfloor_connection *connection, const char *name, const int64_t *keys, size_t count,
    pgfloor_mood *rows) {
  buffer b = {0};
  columns c;
  long found = 0;
  for (size_t i = 0; i < count; i++) {
    begin_array(&b, INT8, 1, 0);
    put_integer(&b, keys[i]);
    PGresult *r = execute(connection->raw, name, &b, 1);
    if (i == 0) c = columns_of(r);
    if (PQresultStatus(r) != PGRES_TUPLES_OK || !has_all(&c)) {
      PQclear(r);
      found = -1;
      break;
    }
    if (PQntuples(r) == 1) read_mood(r, 0, &c, &rows[found++]);
    PQclear(r);
  }
  free(b.bytes);
  return found;
}

#define COLUMN(index, type, statement)                      \
  begin_array(&b[index], type, count, 0);                   \
  for (size_t i = 0; i < count; i++) {                      \
    const pgfloor_mood *row = &rows[i];                     \
    statement;                                              \
  }

long pgfloor_insert(
    pgfloor_connection *connection, const char *name, const pgfloor_mood *rows, size_t count) {
  buffer b[13] = {0};
  COLUMN(0, INT8, put_integer(&b[0], row->key))
  COLUMN(1, INT8, put_integer(&b[1], row->entity))
  COLUMN(2, INT8, put_integer(&b[2], row->version))
  COLUMN(3, INT8, put_integer(&b[3], row->flags))
  COLUMN(4, INT8, put_integer(&b[4], row->kind))
  COLUMN(5, FLOAT8, put_double(&b[5], row->latitude))
  COLUMN(6, FLOAT8, put_double(&b[6], row->longitude))
  COLUMN(7, TEXT, put_text(&b[7], row->name))
  COLUMN(8, TEXT, put_text(&b[8], row->note))
  COLUMN(9, INT8, put_integer(&b[9], row->rank))
  COLUMN(10, INT8, put_integer(&b[10], row->stamp))
  COLUMN(11, INT8, put_integer(&b[11], row->votes))
  begin_array(&b[12], INT8, count, 1);
  for (size_t i = 0; i < count; i++) {
    if (rows[i].country) put_integer(&b[12], rows[i].country);
    else put4(&b[12], UINT32_MAX);
  }
  long written = take_keys(execute(connection->raw, name, b, 13));
  for (int i = 0; i < 13; i++) free(b[i].bytes);
  return written;
}

long pgfloor_update(
    pgfloor_connection *connection, const char *name, const pgfloor_mood *rows, size_t count) {
  buffer b[3] = {0};
  COLUMN(0, INT8, put_integer(&b[0], row->key))
  COLUMN(1, INT8, put_integer(&b[1], row->version))
  COLUMN(2, INT8, put_integer(&b[2], row->rank))
  long written = take_keys(execute(connection->raw, name, b, 3));
  for (int i = 0; i < 3; i++) free(b[i].bytes);
  return written;
}

void pgfloor_free_moods(pgfloor_mood *rows, long count) {
  for (long i = 0; i < count; i++) {
    free(rows[i].name);
    free(rows[i].note);
  }
  free(rows);
}

uint64_t pgfloor_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
