#ifndef CSTACKFRAMES_SHIM_H
#define CSTACKFRAMES_SHIM_H

/* pthread_getattr_np is GNU's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Walks the frame pointers of the calling thread and writes the return addresses, innermost first.
 *
 * A frame pointer may be anything where a function was built without one, so that nothing is read
 * outside the thread's own stack, whose bounds are looked up once for each thread. Swift cannot read
 * the frame pointer itself, which is why this is C.
 */
static inline size_t cstackframes_walk(uintptr_t *addresses, size_t capacity) {
  static __thread uintptr_t low = 0, high = 0;
  if (high == 0) {
    pthread_attr_t attributes;
    void *start = 0;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    low = (uintptr_t)start;
    high = low + size;
  }
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  size_t count = 0;
  while (count < capacity && frame >= low && frame + 2 * sizeof(uintptr_t) <= high &&
         frame % sizeof(uintptr_t) == 0) {
    const uintptr_t *words = (const uintptr_t *)frame;
    if (words[1] == 0) break;
    addresses[count++] = words[1];
    if (words[0] <= frame) break;
    frame = words[0];
  }
  return count;
}

/* dlfcn.h shows dladdr only where _GNU_SOURCE was defined before the C library's own module was made. */
typedef struct {
  const char *file;
  void *base;
  const char *symbol;
  void *address;
} cstackframes_symbol;

extern int dladdr(const void *address, void *information);

static inline int cstackframes_find(uintptr_t address, cstackframes_symbol *symbol) {
  return dladdr((const void *)address, symbol);
}

#endif
