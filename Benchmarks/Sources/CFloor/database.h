#ifndef CFLOOR_DATABASE_H
#define CFLOOR_DATABASE_H

#include "cfloor.h"

#include <sqlite3.h>

#define CFLOOR_STATEMENTS 64

struct cfloor_database {
  sqlite3 *handle;
  size_t count;
  char *texts[CFLOOR_STATEMENTS];
  sqlite3_stmt *statements[CFLOOR_STATEMENTS];
  const int64_t *values;
  size_t value_count;
};

/* The prepared statement of a text, prepared at first use. */
sqlite3_stmt *cfloor_statement(cfloor_database *database, const char *sql);

/* Registers the table _Z_intarray0 on the handle. */
int cfloor_register_array(cfloor_database *database);

#endif
