#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS 64

/* A statement, or the end of a connection if there's no text. */
typedef struct {
  int connection;
  char *text;
} entry;

struct cfloor_script {
  entry *entries;
  size_t count, capacity;
  /* The recorded connections, NULL after their end, and those of the run. */
  sqlite3 *recorded[CONNECTIONS], *handles[CONNECTIONS];
  int connections;
  char message[512];
};

static cfloor_script *recording;

static int connection_of(cfloor_script *script, sqlite3 *handle) {
  for (int i = 0; i < script->connections; i++)
    if (script->recorded[i] == handle) return i;
  if (script->connections == CONNECTIONS) return -1;
  script->recorded[script->connections] = handle;
  return script->connections++;
}

void cfloor_script_add(sqlite3 *handle, sqlite3_stmt *statement) {
  cfloor_script *script = recording;
  if (!script) return;
  int connection = connection_of(script, handle);
  if (connection < 0) return;
  if (!statement) script->recorded[connection] = NULL;
  if (script->count == script->capacity) {
    script->capacity = script->capacity ? script->capacity * 2 : 64;
    script->entries = realloc(script->entries, script->capacity * sizeof *script->entries);
  }
  char *text = NULL;
  if (statement) {
    char *expanded = sqlite3_expanded_sql(statement);
    text = strdup(expanded ? expanded : "");
    sqlite3_free(expanded);
  }
  script->entries[script->count++] = (entry){connection, text};
}

void cfloor_script_begin(void) { recording = calloc(1, sizeof *recording); }

cfloor_script *cfloor_script_take(void) {
  cfloor_script *script = recording;
  recording = NULL;
  return script;
}

static int run(sqlite3 *handle, const char *text) {
  sqlite3_stmt *statement = NULL;
  int code = sqlite3_prepare_v2(handle, text, -1, &statement, NULL);
  if (code != SQLITE_OK) return code;
  while (sqlite3_step(statement) == SQLITE_ROW) {}
  return sqlite3_finalize(statement);
}

const char *cfloor_script_run(cfloor_script *script, const char *path) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  for (size_t i = 0; i < script->count; i++) {
    entry entry = script->entries[i];
    sqlite3 **handle = &script->handles[entry.connection];
    if (!entry.text) {
      sqlite3_close(*handle);
      *handle = NULL;
      continue;
    }
    if (!*handle && sqlite3_open_v2(path, handle, flags, NULL) != SQLITE_OK) return path;
    if (run(*handle, entry.text) != SQLITE_OK) {
      snprintf(
          script->message, sizeof script->message, "%s: %.300s", sqlite3_errmsg(*handle),
          entry.text);
      return script->message;
    }
  }
  return NULL;
}

void cfloor_script_close(cfloor_script *script) {
  for (int i = 0; i < script->connections; i++) {
    sqlite3_close(script->handles[i]);
    script->handles[i] = NULL;
  }
}

void cfloor_script_free(cfloor_script *script) {
  cfloor_script_close(script);
  for (size_t i = 0; i < script->count; i++) free(script->entries[i].text);
  free(script->entries);
  free(script);
}
