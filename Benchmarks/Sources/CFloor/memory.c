#include "cfloor.h"

#include <malloc.h>
#include <sys/resource.h>

void cfloor_memory_prepare(void) {
  mallopt(M_MMAP_THRESHOLD, 64 * 1024);
  mallopt(M_MMAP_MAX, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 * 1024);
}

cfloor_memory cfloor_memory_now(void) {
  struct mallinfo2 info = mallinfo2();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (cfloor_memory){info.uordblks, info.hblkhd, (size_t)usage.ru_maxrss * 1024};
}
