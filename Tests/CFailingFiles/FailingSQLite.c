#define _GNU_SOURCE 1

#include "FailingRules.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <unistd.h>

#ifndef IS_SANITIZED

// SQLite's code, whose virtual tables run statements, too.
static uintptr_t code_start, code_end;

static int find_code(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size, (void)unused;
  uintptr_t function = (uintptr_t)sqlite3_libversion;
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
    uintptr_t start = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD || function < start) continue;
    if (function - start >= segment->p_memsz) continue;
    code_start = start;
    code_end = start + segment->p_memsz;
    return 1;
  }
  return 0;
}

__attribute__((constructor)) static void find_sqlite(void) { dl_iterate_phdr(find_code, 0); }

int is_sqlite(void *address) {
  return (uintptr_t)address >= code_start && (uintptr_t)address < code_end;
}

NEXT(int, sqlite3_step, sqlite3_stmt *)
int sqlite3_step(sqlite3_stmt *statement) {
  if (statement && is_counted(failing_files_step) && !sqlite3_stmt_busy(statement)
      && !is_sqlite(__builtin_return_address(0))) {
    const char *path = sqlite3_db_filename(sqlite3_db_handle(statement), "main");
    int error = path ? decide(failing_files_step, path) : 0;
    if (error) return error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR;
  }
  return find_sqlite3_step()(statement);
}

// SQLite sleeps before it repeats a call that has failed, in all for ten seconds. A rule doesn't
// change meanwhile. Others sleep until the time has passed, such as for a new file's time stamp.
NEXT(int, usleep, useconds_t)
int usleep(useconds_t time) {
  return is_sqlite(__builtin_return_address(0)) && has_failed() ? 0 : find_usleep()(time);
}

// SQLite's memory.

static sqlite3_mem_methods usual;

static int fails_to_allocate(void) {
  return is_counted(failing_files_allocation) && decide(failing_files_allocation, 0);
}

static void *allocate(int size) { return fails_to_allocate() ? 0 : usual.xMalloc(size); }

// SQLite expects that memory can be made smaller.
static void *reallocate(void *memory, int size) {
  if (size > usual.xSize(memory) && fails_to_allocate()) return 0;
  return usual.xRealloc(memory, size);
}

__attribute__((constructor)) static void replace_allocator(void) {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual);
  sqlite3_mem_methods methods = usual;
  methods.xMalloc = allocate;
  methods.xRealloc = reallocate;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

#endif
