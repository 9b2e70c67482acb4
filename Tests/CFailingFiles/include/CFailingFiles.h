#ifndef CFAILINGFILES_H
#define CFAILINGFILES_H

#include <stddef.h>
#include <stdint.h>

/*
 * A file system that fails, and memory that SQLite can't allocate, for tests.
 *
 * This target defines the C library's file functions and sqlite3_step. The symbols of a program precede
 * those of its shared libraries, so SQLite, Foundation, and the tested code call these definitions. They
 * forward to the next definition, unless a rule is set and the file is below its folder. SQLite's memory
 * allocator is replaced when the program is loaded; an allocation has no file and belongs to any folder,
 * but only a rule for one thread counts it.
 */

/* The kinds of calls. A rule's mask has the bit `1 << kind` for each kind that it counts. */
enum failing_files_kind {
  failing_files_read_open,   /* open an existing file to read it */
  failing_files_write_open,  /* open an existing file to write to it */
  failing_files_create,      /* open a file that doesn't exist */
  failing_files_read,        /* read, or map */
  failing_files_write,       /* write, or copy within the kernel */
  failing_files_sync,
  failing_files_truncate,
  failing_files_rename,
  failing_files_link,
  failing_files_remove,      /* remove a file or a folder */
  failing_files_make,        /* make a folder */
  failing_files_lock,        /* lock; unlocking never fails */
  failing_files_close,       /* close a file, which is closed nevertheless */
  failing_files_list,        /* open a folder to list it, or read a name in it */
  failing_files_attribute,   /* set access permissions, an owner, or times */
  failing_files_status,      /* read a file's attributes, or resolve its links; not by name in SQLite, see
                                FailingFiles.c */
  failing_files_step,        /* begin to execute an SQL statement; fails with SQLITE_IOERR or SQLITE_FULL */
  failing_files_allocation,  /* allocate or enlarge memory in SQLite; fails with any error of the rule */
  failing_files_kind_count
};

/* The error number of a write that writes half of its bytes; calls that don't write fail with EIO. */
#define FAILING_FILES_SHORT (-1)

struct failing_files_rule {
  const char *folder;  /* a path without symbolic links; calls on it and on what's below it are counted */
  int this_thread;     /* whether only calls of the thread that sets the rule are counted */
  uint32_t kinds;      /* the kinds of calls to count */
  int64_t first;       /* the number of the call to fail, from 1; 0 to only count */
  int64_t last;        /* the number of the last call to fail */
  int error;           /* the error number, or FAILING_FILES_SHORT */
};

struct failing_files_report {
  int64_t counts[failing_files_kind_count];
  int64_t failures;
  int failed_kind;         /* the kind of the first call that failed */
  char failed_path[512];   /* and its file */
};

/* Whether the functions are replaced in this program; not under the sanitizers, which replace them. */
int failing_files_is_available(void);

/* Sets a rule; returns its number, or -1 if there are too many. */
int failing_files_set(const struct failing_files_rule *rule);

/* Ends a rule. */
void failing_files_end(int number, struct failing_files_report *report);

/* The number of files that this thread has closed again after a close that failed. */
int64_t failing_files_closed_again(void);

/* A successful call that changed a file or a folder, or that made earlier changes durable. */
struct failing_files_change {
  int kind;          /* create, write, truncate, sync, rename, link, remove, or make */
  uint64_t file;     /* the inode; 0 for a call on a name */
  const char *path;
  const char *other; /* the new name, of a call that has two */
  int64_t offset;    /* where the bytes were written; the size, for a truncation */
  const void *bytes; /* what was written */
  size_t count;
};

/* Begins to record the changes that all threads make below a folder, a path without symbolic links.
 * Returns 0 if another recording hasn't ended. */
int failing_files_record(const char *folder);

/* Ends the recording, and passes the changes in their order. */
void failing_files_end_recording(
    void (*use)(void *context, const struct failing_files_change *change), void *context);

#endif
