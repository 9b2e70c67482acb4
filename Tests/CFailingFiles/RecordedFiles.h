#ifndef RECORDEDFILES_H
#define RECORDEDFILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Only this library calls these functions.
#pragma GCC visibility push(hidden)

/* Writes the path of a descriptor, or of the working folder for AT_FDCWD; returns its length. */
size_t path_of_file(int file, char *path, size_t size);

/* Writes the absolute path of a name in an open folder. */
void absolute_path(int folder, const char *name, char *path, size_t size);

/* Whether changes are recorded. */
int is_recording(void);

/* Returns whether changes are recorded, and opening a file with these flags creates it. */
int is_new_file(int folder, const char *name, int flags);

/* Records a successful call on a descriptor. */
void note_file(int kind, int file, int64_t offset, const void *bytes, size_t count);

/* Records what opening a file changed, if it succeeded; returns the descriptor. */
int note_open(int file, int is_new, int flags);

/* Records what was written where the descriptor was; returns the number of bytes. */
ssize_t note_write(int file, ssize_t count, const void *bytes);

/* Records a call on one or two names, if it succeeded; returns its result. */
int note_call(
    int result, int kind, int folder, const char *name, int other_folder, const char *other);

#pragma GCC visibility pop

#endif
