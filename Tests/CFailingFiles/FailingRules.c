#define _GNU_SOURCE 1

#include "FailingRules.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAXIMUM_RULES 16

struct slot {
  int is_used;
  char folder[PATH_MAX];
  size_t length;
  pid_t thread;  // 0 for all threads
  uint32_t kinds;
  int64_t count, first, last;
  int error;
  struct failing_files_report report;
};

// The kinds of calls that rules count, so that nothing else is done for others.
static atomic_uint counted_kinds;
// Guards the slots, briefly. Nothing is allocated, and no replaced function is called under it.
static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static struct slot slots[MAXIMUM_RULES];

int failing_files_is_available(void) {
#ifdef IS_SANITIZED
  return 0;
#else
  return 1;
#endif
}

// Called under the lock.
static void update_counted_kinds(void) {
  uint32_t kinds = 0;
  for (int index = 0; index < MAXIMUM_RULES; index++) {
    if (slots[index].is_used) kinds |= slots[index].kinds;
  }
  atomic_store(&counted_kinds, kinds);
}

int failing_files_set(const struct failing_files_rule *rule) {
  int number = -1;
  pthread_mutex_lock(&lock);
  for (int index = 0; index < MAXIMUM_RULES; index++) {
    struct slot *slot = &slots[index];
    if (slot->is_used) continue;
    memset(slot, 0, sizeof *slot);
    slot->length = strlen(rule->folder);
    if (slot->length >= sizeof slot->folder) break;
    memcpy(slot->folder, rule->folder, slot->length + 1);
    slot->thread = rule->this_thread ? gettid() : 0;
    slot->kinds = rule->kinds;
    slot->first = rule->first;
    slot->last = rule->last;
    slot->error = rule->error;
    slot->is_used = 1;
    update_counted_kinds();
    number = index;
    break;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

void failing_files_end(int number, struct failing_files_report *report) {
  pthread_mutex_lock(&lock);
  if (number >= 0 && number < MAXIMUM_RULES && slots[number].is_used) {
    *report = slots[number].report;
    slots[number].is_used = 0;
    update_counted_kinds();
  }
  pthread_mutex_unlock(&lock);
}

int has_rules(void) { return atomic_load(&counted_kinds) != 0; }

int is_counted(int kind) { return (atomic_load(&counted_kinds) & (1u << kind)) != 0; }

// The thread, which a system call returns only once.
static pid_t this_thread(void) {
  static _Thread_local pid_t number;
  if (number == 0) number = gettid();
  return number;
}

int decide(int kind, const char *path) {
  int error = 0;
  pid_t thread = this_thread();
  pthread_mutex_lock(&lock);
  for (int index = 0; index < MAXIMUM_RULES; index++) {
    struct slot *slot = &slots[index];
    if (!slot->is_used || !(slot->kinds & (1u << kind))) continue;
    if (slot->thread && slot->thread != thread) continue;
    // Other tests allocate memory as well.
    if (!path && !slot->thread) continue;
    if (path && strncmp(path, slot->folder, slot->length) != 0) continue;
    if (path && path[slot->length] != '/' && path[slot->length] != 0) continue;
    slot->count++;
    slot->report.counts[kind]++;
    if (slot->first == 0 || slot->count < slot->first || slot->count > slot->last) continue;
    if (slot->report.failures++ == 0) {
      slot->report.failed_kind = kind;
      if (path) snprintf(slot->report.failed_path, sizeof slot->report.failed_path, "%s", path);
    }
    error = slot->error;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int has_failed(void) {
  int result = 0;
  if (!has_rules()) return 0;
  pid_t thread = this_thread();
  pthread_mutex_lock(&lock);
  for (int index = 0; index < MAXIMUM_RULES; index++) {
    struct slot *slot = &slots[index];
    if (slot->is_used && slot->thread == thread && slot->report.failures) result = 1;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

#define MAXIMUM_KEPT 64

// The descriptors whose numbers are kept in use, in a ring; 0 for none. Guarded by the lock.
static int kept[MAXIMUM_KEPT];
static int next_kept;
static atomic_int has_kept;
// A file without contents, to which kept numbers refer.
static int nothing = -1;

__attribute__((constructor)) static void open_nothing(void) {
  nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void close_and_keep_number(int file) {
  pthread_mutex_lock(&lock);
  if (dup3(nothing, file, O_CLOEXEC) == file) {
    if (kept[next_kept] > 0) syscall(SYS_close, kept[next_kept]);
    kept[next_kept] = file;
    next_kept = (next_kept + 1) % MAXIMUM_KEPT;
    atomic_store(&has_kept, 1);
  } else {
    syscall(SYS_close, file);
  }
  pthread_mutex_unlock(&lock);
}

static _Thread_local int64_t closed_again;

int64_t failing_files_closed_again(void) { return closed_again; }

void forget_number(int file) {
  if (!atomic_load(&has_kept)) return;
  pthread_mutex_lock(&lock);
  for (int index = 0; index < MAXIMUM_KEPT; index++) {
    if (kept[index] != file) continue;
    kept[index] = 0;
    closed_again++;
  }
  pthread_mutex_unlock(&lock);
}
