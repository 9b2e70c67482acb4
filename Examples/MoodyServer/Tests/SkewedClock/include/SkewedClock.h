// A library that a test preloads into a process to let its clock jump.
//
// The environment variable SKEWED_CLOCK names a file that begins with a 64-bit integer: the number of seconds that the
// process's wall clock is ahead. A test can change it at any time. Clocks that count from the system's start don't jump.
#ifndef SKEWED_CLOCK_H
#define SKEWED_CLOCK_H
#endif
