#define _GNU_SOURCE 1

#include "RecordedFiles.h"

#include "CFailingFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct change {
  struct change *next;
  struct failing_files_change value;
  char memory[];  // the two paths, and the bytes
};

static atomic_int is_active;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static struct change *first, **last = &first;

int failing_files_record(const char *path) {
  pthread_mutex_lock(&lock);
  size_t length = strlen(path);
  int is_possible = !atomic_load(&is_active) && length < sizeof folder;
  if (is_possible) {
    memcpy(folder, path, length + 1);
    folder_length = length;
    atomic_store(&is_active, 1);
  }
  pthread_mutex_unlock(&lock);
  return is_possible;
}

void failing_files_end_recording(
    void (*use)(void *context, const struct failing_files_change *change), void *context) {
  pthread_mutex_lock(&lock);
  atomic_store(&is_active, 0);
  struct change *change = first;
  first = 0;
  last = &first;
  pthread_mutex_unlock(&lock);
  while (change) {
    struct change *next = change->next;
    use(context, &change->value);
    free(change);
    change = next;
  }
}

size_t path_of_file(int file, char *path, size_t size) {
  char link[64] = "/proc/self/cwd";
  if (file != AT_FDCWD) snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  // Not readlink, which is replaced.
  ssize_t length = readlinkat(AT_FDCWD, link, path, size - 1);
  if (length < 0) length = 0;
  path[length] = 0;
  return (size_t)length;
}

void absolute_path(int folder, const char *name, char *path, size_t size) {
  if (name[0] == '/') {
    snprintf(path, size, "%s", name);
    return;
  }
  size_t length = path_of_file(folder, path, size);
  snprintf(path + length, size - length, "/%s", name);
}

int is_recording(void) { return atomic_load(&is_active); }

static int is_below(const char *path) {
  return path && strncmp(path, folder, folder_length) == 0
         && (path[folder_length] == '/' || path[folder_length] == 0);
}

static void record(
    int kind, int file, const char *path, const char *other, int64_t offset, const void *bytes,
    size_t count) {
  if (!is_recording() || (!is_below(path) && !is_below(other))) return;
  struct stat status = {0};
  if (file >= 0) fstat(file, &status);
  size_t path_size = strlen(path) + 1, other_size = other ? strlen(other) + 1 : 0;
  struct change *change = malloc(sizeof *change + path_size + other_size + (bytes ? count : 0));
  if (!change) abort();
  memcpy(change->memory, path, path_size);
  if (other) memcpy(change->memory + path_size, other, other_size);
  if (bytes) memcpy(change->memory + path_size + other_size, bytes, count);
  change->next = 0;
  change->value = (struct failing_files_change){
      .kind = kind,
      .file = status.st_ino,
      .path = change->memory,
      .other = other ? change->memory + path_size : 0,
      .offset = offset,
      .bytes = bytes ? change->memory + path_size + other_size : 0,
      .count = count,
  };
  pthread_mutex_lock(&lock);
  *last = change;
  last = &change->next;
  pthread_mutex_unlock(&lock);
}

int is_new_file(int folder, const char *name, int flags) {
  if (!is_recording() || !(flags & O_CREAT)) return 0;
  int before = errno;
  int result = faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
  errno = before;
  return result;
}

void note_file(int kind, int file, int64_t offset, const void *bytes, size_t count) {
  if (!is_recording()) return;
  int before = errno;
  char path[PATH_MAX];
  path_of_file(file, path, sizeof path);
  record(kind, file, path, 0, offset, bytes, count);
  errno = before;
}

int note_open(int file, int is_new, int flags) {
  if (file >= 0 && is_new) note_file(failing_files_create, file, 0, 0, 0);
  else if (file >= 0 && (flags & O_TRUNC)) note_file(failing_files_truncate, file, 0, 0, 0);
  return file;
}

ssize_t note_write(int file, ssize_t count, const void *bytes) {
  if (!is_recording() || count <= 0) return count;
  int before = errno;
  // A pipe has no place to write to.
  off_t end = lseek(file, 0, SEEK_CUR);
  if (end >= 0) note_file(failing_files_write, file, end - count, bytes, (size_t)count);
  errno = before;
  return count;
}

int note_call(
    int result, int kind, int folder, const char *name, int other_folder, const char *other) {
  if (result != 0 || !is_recording()) return result;
  char path[PATH_MAX], other_path[PATH_MAX];
  absolute_path(folder, name, path, sizeof path);
  if (other) absolute_path(other_folder, other, other_path, sizeof other_path);
  record(kind, -1, path, other ? other_path : 0, 0, 0, 0);
  return result;
}
