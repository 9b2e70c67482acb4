#include "cfloor.h"

#include <dlfcn.h>
#include <time.h>

/* Counts between the beginning and the end of the measured part that ran last. */
static cfloor_counts begun, last;

static long allocations(void) {
  static long (*count)(void);
  static int looked;
  if (!looked) {
    looked = 1;
    *(void **)&count = dlsym(RTLD_DEFAULT, "callocations_count");
  }
  return count ? count() : 0;
}

static uint64_t processor(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void cfloor_measured_begin(void) {
  begun = cfloor_trace_totals();
  begun.allocations = allocations();
  begun.processor = processor();
}

void cfloor_measured_end(void) {
  uint64_t time = processor();
  long blocks = allocations();
  last = cfloor_trace_totals();
  last.statements -= begun.statements;
  last.rows -= begun.rows;
  last.processor = time - begun.processor;
  last.allocations = blocks - begun.allocations;
}

cfloor_counts cfloor_measured_last(void) { return last; }
