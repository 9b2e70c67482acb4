#define _GNU_SOURCE
#include "SkewedClock.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *skew;

__attribute__((constructor)) static void map_skew(void) {
  const char *path = getenv("SKEWED_CLOCK");
  if (path == NULL) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  void *map = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *skew, PROT_READ, MAP_SHARED, file, 0);
  if (map == MAP_FAILED) {
    perror(path);
    _exit(70);
  }
  close(file);
  skew = map;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  if (syscall(SYS_clock_gettime, clock, time) != 0) return -1;
  if (skew != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += *skew;
  }
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  if (syscall(SYS_gettimeofday, time, zone) != 0) return -1;
  if (skew != NULL && time != NULL) time->tv_sec += *skew;
  return 0;
}

time_t time(time_t *seconds) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != NULL) *seconds = now.tv_sec;
  return now.tv_sec;
}
