#ifndef CFLOOR_SCRIPT_H
#define CFLOOR_SCRIPT_H

#include "cfloor.h"

#include <sqlite3.h>

/* Adds a statement of a connection, or its end if there's no statement, to the script being recorded. */
void cfloor_script_add(sqlite3 *handle, sqlite3_stmt *statement);

#endif
