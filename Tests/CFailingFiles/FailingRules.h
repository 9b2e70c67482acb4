#ifndef FAILINGRULES_H
#define FAILINGRULES_H

#include "CFailingFiles.h"

/* A sanitizer replaces the same functions. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

// Only this library calls these functions.
#pragma GCC visibility push(hidden)

/* Whether there are rules. */
int has_rules(void);

/* Whether a rule counts calls of a kind; otherwise, nothing else needs to be done for one. */
int is_counted(int kind);

/* Counts a call on a file, or on none. Returns 0 to forward it, or the error of a rule. */
int decide(int kind, const char *path);

/* Whether a call of this thread has failed, by a rule that's still there. */
int has_failed(void);

/* Whether an address is in SQLite's code. */
int is_sqlite(void *address);

/* Closes a file, but keeps the number of its descriptor in use until 64 other numbers are kept. */
void close_and_keep_number(int file);

/* Ends that a descriptor's number is only kept in use: its owner closes it, which is counted. */
void forget_number(int file);

#pragma GCC visibility pop

/* The next definition of a function, looked up once: by the first call, from any thread. */
#define NEXT(result, name, ...)                                              \
  static result (*_Atomic next_##name)(__VA_ARGS__);                         \
  static result (*find_##name(void))(__VA_ARGS__) {                          \
    result (*found)(__VA_ARGS__) = atomic_load(&next_##name);                \
    if (!found) {                                                            \
      found = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name);               \
      atomic_store(&next_##name, found);                                     \
    }                                                                        \
    return found;                                                            \
  }

#endif
