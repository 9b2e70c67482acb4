#include "cfloor.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* Texts in the order in which they first ran, with how often each ran and the rows it gave. */

#define TEXTS 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char *text;
  long runs, rows;
} traced[TEXTS];
static size_t count;

static size_t place(const char *text) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(traced[i].text, text) == 0) return i;
  if (count == TEXTS) return TEXTS - 1;
  traced[count].text = strdup(text);
  return count++;
}

static int heard(unsigned kind, void *context, void *statement, void *detail) {
  (void)context;
  const char *text = sqlite3_sql(statement);
  if (!text) return 0;
  /* The statements of a trigger come as comments. */
  if (kind == SQLITE_TRACE_STMT && strncmp(detail, "--", 2) == 0) return 0;
  pthread_mutex_lock(&lock);
  size_t index = place(text);
  if (kind == SQLITE_TRACE_STMT) traced[index].runs++;
  if (kind == SQLITE_TRACE_ROW) traced[index].rows++;
  pthread_mutex_unlock(&lock);
  return 0;
}

static int listen_to(sqlite3 *handle, char **message, const sqlite3_api_routines *routines) {
  (void)message, (void)routines;
  return sqlite3_trace_v2(handle, SQLITE_TRACE_STMT | SQLITE_TRACE_ROW, heard, NULL);
}

void cfloor_trace_begin(void) {
  cfloor_trace_clear();
  sqlite3_auto_extension((void (*)(void))listen_to);
}

void cfloor_trace_end(void) { sqlite3_cancel_auto_extension((void (*)(void))listen_to); }

size_t cfloor_trace_count(void) { return count; }
const char *cfloor_trace_text(size_t index) { return traced[index].text; }
long cfloor_trace_runs(size_t index) { return traced[index].runs; }
long cfloor_trace_rows(size_t index) { return traced[index].rows; }

void cfloor_trace_clear(void) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < count; i++) free(traced[i].text);
  memset(traced, 0, sizeof traced);
  count = 0;
  pthread_mutex_unlock(&lock);
}
