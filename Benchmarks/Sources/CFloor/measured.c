#include "cfloor.h"

#include <dlfcn.h>

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

void cfloor_measured_begin(void) {
  begun = cfloor_trace_totals();
  begun.allocations = allocations();
}

void cfloor_measured_end(void) {
  long blocks = allocations();
  last = cfloor_trace_totals();
  last.statements -= begun.statements;
  last.rows -= begun.rows;
  last.allocations = blocks - begun.allocations;
}

cfloor_counts cfloor_measured_last(void) { return last; }
