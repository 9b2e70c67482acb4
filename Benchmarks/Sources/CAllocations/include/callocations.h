/* Loaded ahead of the C library (LD_PRELOAD): counts the blocks that a process asks for. */
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stddef.h>

/* Calls of malloc, calloc, realloc and their aligned kin since the process began. */
long callocations_count(void);

#endif
