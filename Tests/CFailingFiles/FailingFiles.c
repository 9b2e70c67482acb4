#define _GNU_SOURCE 1
#define _LARGEFILE64_SOURCE 1

#include "FailingRules.h"
#include "RecordedFiles.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef IS_SANITIZED

// `nm -D --undefined-only` lists what SQLite's and Swift's libraries call. Of calls on files, these
// aren't replaced: lseek, dup, ioctl, mremap, munmap, statvfs, fts_read, and those on extended
// attributes. Nothing calls statx, writev, posix_fallocate, or fopen for a file of a test.

static int decide_file(int kind, int file) {
  if (!is_counted(kind) || file < 0) return 0;
  int before = errno;
  char path[PATH_MAX];
  path_of_file(file, path, sizeof path);
  errno = before;
  return path[0] == '/' ? decide(kind, path) : 0;
}

static int decide_name(int kind, int folder, const char *name) {
  if (!is_counted(kind) || name == 0) return 0;
  int before = errno;
  char path[PATH_MAX];
  absolute_path(folder, name, path, sizeof path);
  errno = before;
  return decide(kind, path);
}

static int decide_open(int folder, const char *name, int flags) {
  if (!has_rules() || name == 0) return 0;
  int before = errno;
  int kind = failing_files_read_open;
  if ((flags & O_CREAT) && faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
    kind = failing_files_create;
  } else if ((flags & O_ACCMODE) != O_RDONLY) {
    kind = failing_files_write_open;
  }
  errno = before;
  return decide_name(kind, folder, name);
}

static int fail(int error) {
  errno = error == FAILING_FILES_SHORT ? EIO : error;
  return -1;
}

NEXT(int, open, const char *, int, ...)
NEXT(int, open64, const char *, int, ...)
NEXT(int, openat, int, const char *, int, ...)
NEXT(int, openat64, int, const char *, int, ...)

static mode_t mode_of(int flags, va_list list) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

#define OPENS(name)                                                          \
  int name(const char *path, int flags, ...) {                               \
    va_list list;                                                            \
    va_start(list, flags);                                                   \
    mode_t mode = mode_of(flags, list);                                      \
    va_end(list);                                                            \
    int error = decide_open(AT_FDCWD, path, flags);                          \
    if (error) return fail(error);                                           \
    int is_new = is_new_file(AT_FDCWD, path, flags);                         \
    return note_open(find_##name()(path, flags, mode), is_new, flags);       \
  }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                       \
  int name(int folder, const char *path, int flags, ...) {                   \
    va_list list;                                                            \
    va_start(list, flags);                                                   \
    mode_t mode = mode_of(flags, list);                                      \
    va_end(list);                                                            \
    int error = decide_open(folder, path, flags);                            \
    if (error) return fail(error);                                           \
    int is_new = is_new_file(folder, path, flags);                           \
    return note_open(find_##name()(folder, path, flags, mode), is_new, flags); \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

// The name of a new file is chosen by the function: the folder's is in the template.
NEXT(int, mkstemp, char *)
int mkstemp(char *template) {
  int error = decide_name(failing_files_create, AT_FDCWD, template);
  return error ? fail(error) : note_open(find_mkstemp()(template), 1, 0);
}

NEXT(char *, mkdtemp, char *)
char *mkdtemp(char *template) {
  int error = decide_name(failing_files_make, AT_FDCWD, template);
  if (error) {
    fail(error);
    return 0;
  }
  char *made = find_mkdtemp()(template);
  note_call(made ? 0 : -1, failing_files_make, AT_FDCWD, template, 0, 0);
  return made;
}

// Reading and writing.

NEXT(ssize_t, read, int, void *, size_t)
ssize_t read(int file, void *bytes, size_t count) {
  int error = decide_file(failing_files_read, file);
  return error ? fail(error) : find_read()(file, bytes, count);
}

#define READS_AT(name, offset_type)                                          \
  NEXT(ssize_t, name, int, void *, size_t, offset_type)                      \
  ssize_t name(int file, void *bytes, size_t count, offset_type offset) {    \
    int error = decide_file(failing_files_read, file);                       \
    return error ? fail(error) : find_##name()(file, bytes, count, offset);  \
  }
READS_AT(pread, off_t)
READS_AT(pread64, off64_t)

// A disk that's full after some bytes: a write of several bytes is short, and one of a single byte
// fails. One that wrote nothing, and didn't fail, would be repeated forever.
static int shorten(int error, size_t *count) {
  if (error != FAILING_FILES_SHORT) return error;
  if (*count == 1) return ENOSPC;
  *count /= 2;
  return 0;
}

NEXT(ssize_t, write, int, const void *, size_t)
ssize_t write(int file, const void *bytes, size_t count) {
  int error = shorten(decide_file(failing_files_write, file), &count);
  if (error) return fail(error);
  return note_write(file, find_write()(file, bytes, count), bytes);
}

#define WRITES_AT(name, offset_type)                                               \
  NEXT(ssize_t, name, int, const void *, size_t, offset_type)                      \
  ssize_t name(int file, const void *bytes, size_t count, offset_type offset) {    \
    int error = shorten(decide_file(failing_files_write, file), &count);           \
    if (error) return fail(error);                                                 \
    ssize_t result = find_##name()(file, bytes, count, offset);                    \
    if (result > 0) note_file(failing_files_write, file, offset, bytes, (size_t)result); \
    return result;                                                                 \
  }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

// Where a call that copies begins to read.
static int64_t start_of(int from, const int64_t *offset) {
  return !is_recording() ? 0 : offset ? *offset : lseek(from, 0, SEEK_CUR);
}

// Records bytes that the kernel copied to the end of a descriptor's file.
static ssize_t note_copy(int to, int from, int64_t start, ssize_t count) {
  if (!is_recording() || count <= 0) return count;
  void *bytes = malloc((size_t)count);
  if (!bytes || find_pread64()(from, bytes, (size_t)count, start) != count) abort();
  note_write(to, count, bytes);
  free(bytes);
  return count;
}

#define SENDS(name, offset_type)                                             \
  NEXT(ssize_t, name, int, int, offset_type *, size_t)                       \
  ssize_t name(int to, int from, offset_type *offset, size_t count) {        \
    int error = decide_file(failing_files_write, to);                        \
    if (error == FAILING_FILES_SHORT) count = count > 1 ? count / 2 : count; \
    else if (error) return fail(error);                                      \
    int64_t start = start_of(from, offset);                                  \
    return note_copy(to, from, start, find_##name()(to, from, offset, count)); \
  }
SENDS(sendfile, off_t)
SENDS(sendfile64, off64_t)

NEXT(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned)
ssize_t copy_file_range(
    int from, off64_t *start, int to, off64_t *end, size_t count, unsigned flags) {
  int error = decide_file(failing_files_write, to);
  if (error == FAILING_FILES_SHORT) count = count > 1 ? count / 2 : count;
  else if (error) return fail(error);
  // Nothing calls it with a place to write to.
  if (end && is_recording()) abort();
  int64_t begin = start_of(from, start);
  return note_copy(to, from, begin, find_copy_file_range()(from, start, to, end, count, flags));
}

#define MAPS(name, offset_type)                                                          \
  NEXT(void *, name, void *, size_t, int, int, int, offset_type)                         \
  void *name(                                                                            \
      void *address, size_t size, int access, int flags, int file, offset_type offset) { \
    int error = flags & MAP_ANONYMOUS ? 0 : decide_file(failing_files_read, file);       \
    if (!error) return find_##name()(address, size, access, flags, file, offset);        \
    fail(error);                                                                         \
    return MAP_FAILED;                                                                   \
  }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

// Calls on a descriptor.

#define CALLS_FILE(kind, name, type)                                         \
  NEXT(int, name, int, type)                                                 \
  int name(int file, type value) {                                           \
    int error = decide_file(kind, file);                                     \
    if (error) return fail(error);                                           \
    int result = find_##name()(file, value);                                 \
    if (result == 0) note_file(kind, file, value, 0, 0);                     \
    return result;                                                           \
  }
CALLS_FILE(failing_files_truncate, ftruncate, off_t)
CALLS_FILE(failing_files_truncate, ftruncate64, off64_t)
CALLS_FILE(failing_files_attribute, fchmod, mode_t)

NEXT(int, fchown, int, uid_t, gid_t)
int fchown(int file, uid_t user, gid_t group) {
  int error = decide_file(failing_files_attribute, file);
  return error ? fail(error) : find_fchown()(file, user, group);
}

NEXT(int, futimens, int, const struct timespec *)
int futimens(int file, const struct timespec *times) {
  int error = decide_file(failing_files_attribute, file);
  return error ? fail(error) : find_futimens()(file, times);
}

NEXT(int, flock, int, int)
int flock(int file, int operation) {
  int error = operation & LOCK_UN ? 0 : decide_file(failing_files_lock, file);
  return error ? fail(error) : find_flock()(file, operation);
}

#define SYNCS(name)                                                          \
  NEXT(int, name, int)                                                       \
  int name(int file) {                                                       \
    int error = decide_file(failing_files_sync, file);                       \
    if (error) return fail(error);                                           \
    int result = find_##name()(file);                                        \
    if (result == 0) note_file(failing_files_sync, file, 0, 0, 0);           \
    return result;                                                           \
  }
SYNCS(fsync)
SYNCS(fdatasync)

// A descriptor is closed even if that fails, as in Linux. A caller that closes it again must not
// close another file that got its number meanwhile, so the number stays in use for a while.
NEXT(int, close, int)
int close(int file) {
  forget_number(file);
  int error = decide_file(failing_files_close, file);
  if (!error) return find_close()(file);
  close_and_keep_number(file);
  return fail(error);
}

#define CONTROLS(name)                                                          \
  NEXT(int, name, int, int, ...)                                                \
  int name(int file, int command, ...) {                                        \
    va_list list;                                                               \
    va_start(list, command);                                                    \
    void *argument = va_arg(list, void *);                                      \
    va_end(list);                                                               \
    int locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK \
                || command == F_OFD_SETLK || command == F_OFD_SETLKW;           \
    if (locks && ((struct flock *)argument)->l_type != F_UNLCK) {               \
      int error = decide_file(failing_files_lock, file);                        \
      if (error) return fail(error);                                            \
    }                                                                           \
    return find_##name()(file, command, argument);                              \
  }
CONTROLS(fcntl)
CONTROLS(fcntl64)

// Calls on a name.

#define CALLS_NAME(kind, name)                                               \
  NEXT(int, name, const char *)                                              \
  int name(const char *path) {                                               \
    int error = decide_name(kind, AT_FDCWD, path);                           \
    if (error) return fail(error);                                           \
    return note_call(find_##name()(path), kind, AT_FDCWD, path, 0, 0);       \
  }
CALLS_NAME(failing_files_remove, unlink)
CALLS_NAME(failing_files_remove, rmdir)
CALLS_NAME(failing_files_remove, remove)

#define CALLS_NAME_WITH(kind, name, type)                                    \
  NEXT(int, name, const char *, type)                                        \
  int name(const char *path, type value) {                                   \
    int error = decide_name(kind, AT_FDCWD, path);                           \
    if (error) return fail(error);                                           \
    return note_call(find_##name()(path, value), kind, AT_FDCWD, path, 0, 0); \
  }
CALLS_NAME_WITH(failing_files_make, mkdir, mode_t)
CALLS_NAME_WITH(failing_files_attribute, chmod, mode_t)
CALLS_NAME_WITH(failing_files_truncate, truncate, off_t)

NEXT(int, chown, const char *, uid_t, gid_t)
int chown(const char *path, uid_t user, gid_t group) {
  int error = decide_name(failing_files_attribute, AT_FDCWD, path);
  return error ? fail(error) : find_chown()(path, user, group);
}

NEXT(int, utimes, const char *, const struct timeval *)
int utimes(const char *path, const struct timeval *times) {
  int error = decide_name(failing_files_attribute, AT_FDCWD, path);
  return error ? fail(error) : find_utimes()(path, times);
}

NEXT(int, mkdirat, int, const char *, mode_t)
int mkdirat(int folder, const char *path, mode_t mode) {
  int error = decide_name(failing_files_make, folder, path);
  if (error) return fail(error);
  return note_call(find_mkdirat()(folder, path, mode), failing_files_make, folder, path, 0, 0);
}

NEXT(int, unlinkat, int, const char *, int)
int unlinkat(int folder, const char *path, int flags) {
  int error = decide_name(failing_files_remove, folder, path);
  if (error) return fail(error);
  return note_call(find_unlinkat()(folder, path, flags), failing_files_remove, folder, path, 0, 0);
}

// A new name decides: it's the one that is made.

#define CALLS_NAMES(kind, name)                                              \
  NEXT(int, name, const char *, const char *)                                \
  int name(const char *from, const char *to) {                               \
    int error = decide_name(kind, AT_FDCWD, to);                             \
    if (error) return fail(error);                                           \
    return note_call(find_##name()(from, to), kind, AT_FDCWD, from, AT_FDCWD, to); \
  }
CALLS_NAMES(failing_files_rename, rename)
CALLS_NAMES(failing_files_link, link)
CALLS_NAMES(failing_files_link, symlink)

NEXT(int, renameat, int, const char *, int, const char *)
int renameat(int from, const char *name, int to, const char *new) {
  int error = decide_name(failing_files_rename, to, new);
  if (error) return fail(error);
  return note_call(find_renameat()(from, name, to, new), failing_files_rename, from, name, to, new);
}

NEXT(int, renameat2, int, const char *, int, const char *, unsigned)
int renameat2(int from, const char *name, int to, const char *new, unsigned flags) {
  int error = decide_name(failing_files_rename, to, new);
  if (error) return fail(error);
  return note_call(find_renameat2()(from, name, to, new, flags), failing_files_rename, from, name, to, new);
}

NEXT(int, linkat, int, const char *, int, const char *, int)
int linkat(int from, const char *name, int to, const char *new, int flags) {
  int error = decide_name(failing_files_link, to, new);
  if (error) return fail(error);
  return note_call(find_linkat()(from, name, to, new, flags), failing_files_link, from, name, to, new);
}

// Attributes. SQLite takes a journal or WAL whose attributes it can't read for a missing one, so its
// calls by name aren't counted.

#define EXAMINES_FILE(name, type)                                            \
  NEXT(int, name, int, struct type *)                                        \
  int name(int file, struct type *result) {                                  \
    int error = decide_file(failing_files_status, file);                     \
    return error ? fail(error) : find_##name()(file, result);                \
  }
EXAMINES_FILE(fstat, stat)
EXAMINES_FILE(fstat64, stat64)

#define EXAMINES_NAME(name, type)                                            \
  NEXT(int, name, const char *, struct type *)                               \
  int name(const char *path, struct type *result) {                          \
    int error = is_sqlite(__builtin_return_address(0))                       \
                ? 0 : decide_name(failing_files_status, AT_FDCWD, path);     \
    return error ? fail(error) : find_##name()(path, result);                \
  }
EXAMINES_NAME(stat, stat)
EXAMINES_NAME(stat64, stat64)
EXAMINES_NAME(lstat, stat)
EXAMINES_NAME(lstat64, stat64)

#define EXAMINES_NAME_AT(name, type)                                         \
  NEXT(int, name, int, const char *, struct type *, int)                     \
  int name(int folder, const char *path, struct type *result, int flags) {   \
    int error = decide_name(failing_files_status, folder, path);             \
    return error ? fail(error) : find_##name()(folder, path, result, flags); \
  }
EXAMINES_NAME_AT(fstatat, stat)
EXAMINES_NAME_AT(fstatat64, stat64)

NEXT(int, access, const char *, int)
int access(const char *path, int mode) {
  int error = is_sqlite(__builtin_return_address(0))
              ? 0 : decide_name(failing_files_status, AT_FDCWD, path);
  return error ? fail(error) : find_access()(path, mode);
}

NEXT(ssize_t, readlink, const char *, char *, size_t)
ssize_t readlink(const char *path, char *target, size_t size) {
  int error = is_sqlite(__builtin_return_address(0))
              ? 0 : decide_name(failing_files_status, AT_FDCWD, path);
  return error ? fail(error) : find_readlink()(path, target, size);
}

NEXT(char *, realpath, const char *, char *)
char *realpath(const char *path, char *resolved) {
  int error = decide_name(failing_files_status, AT_FDCWD, path);
  if (!error) return find_realpath()(path, resolved);
  fail(error);
  return 0;
}

// Folders. Of a list, two calls are counted, so that it's missing as a whole or in part: the first
// one, and the one after the first name and those of the folder itself and of the one above it.

static _Thread_local DIR *listed;
static _Thread_local int listed_calls;

NEXT(DIR *, opendir, const char *)
DIR *opendir(const char *path) {
  listed = 0;
  int error = decide_name(failing_files_list, AT_FDCWD, path);
  if (!error) return find_opendir()(path);
  fail(error);
  return 0;
}

NEXT(DIR *, fdopendir, int)
DIR *fdopendir(int folder) {
  listed = 0;
  int error = decide_file(failing_files_list, folder);
  if (!error) return find_fdopendir()(folder);
  fail(error);
  return 0;
}

#define LISTS(name, type)                                                    \
  NEXT(struct type *, name, DIR *)                                           \
  struct type *name(DIR *folder) {                                           \
    listed_calls = folder == listed ? listed_calls + 1 : 1;                  \
    listed = folder;                                                         \
    int error = listed_calls == 1 || listed_calls == 4                       \
                ? decide_file(failing_files_list, dirfd(folder)) : 0;        \
    if (!error) return find_##name()(folder);                                \
    fail(error);                                                             \
    return 0;                                                                \
  }
LISTS(readdir, dirent)
LISTS(readdir64, dirent64)

// Foundation copies and removes trees with it.
NEXT(FTS *, fts_open, char *const *, int, int (*)(const FTSENT **, const FTSENT **))
FTS *fts_open(
    char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **)) {
  int error = decide_name(failing_files_list, AT_FDCWD, paths[0]);
  if (!error) return find_fts_open()(paths, options, compare);
  fail(error);
  return 0;
}

#endif
