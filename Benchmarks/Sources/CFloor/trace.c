#include "script.h"

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
static cfloor_counts totals;
static int depth;

static size_t place(const char *text) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(traced[i].text, text) == 0) return i;
  if (count == TEXTS) return TEXTS - 1;
  traced[count].text = strdup(text);
  return count++;
}

/* How many transactions a run of reads takes depends on the clock. */
static int is_housekeeping(const char *text) {
  return strncmp(text, "BEGIN", 5) == 0 || strncmp(text, "COMMIT", 6) == 0 ||
         strncmp(text, "PRAGMA", 6) == 0;
}

static int heard(unsigned kind, void *context, void *statement, void *detail) {
  (void)context;
  if (kind == SQLITE_TRACE_CLOSE) {
    pthread_mutex_lock(&lock);
    cfloor_script_add(statement, NULL);
    pthread_mutex_unlock(&lock);
    return 0;
  }
  const char *text = sqlite3_sql(statement);
  if (!text) return 0;
  /* The statements of a trigger come as comments. */
  if (kind == SQLITE_TRACE_STMT && strncmp(detail, "--", 2) == 0) return 0;
  pthread_mutex_lock(&lock);
  size_t index = place(text);
  if (kind == SQLITE_TRACE_STMT) {
    traced[index].runs++;
    cfloor_script_add(sqlite3_db_handle(statement), statement);
    if (!is_housekeeping(text)) totals.statements++;
  }
  if (kind == SQLITE_TRACE_ROW) {
    traced[index].rows++;
    if (!is_housekeeping(text)) totals.rows++;
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

static int listen_to(sqlite3 *handle, char **message, const sqlite3_api_routines *routines) {
  (void)message, (void)routines;
  return sqlite3_trace_v2(
      handle, SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_CLOSE, heard, NULL);
}

void cfloor_trace_begin(void) {
  cfloor_trace_clear();
  depth++;
  sqlite3_auto_extension((void (*)(void))listen_to);
}

void cfloor_trace_end(void) {
  if (--depth == 0) sqlite3_cancel_auto_extension((void (*)(void))listen_to);
}

cfloor_counts cfloor_trace_totals(void) { return totals; }

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
