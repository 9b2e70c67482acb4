#ifndef CREADLINE_SHIM_H
#define CREADLINE_SHIM_H

/* readline's headers use FILE without including its header. */
#include <stdio.h>

#include <readline/history.h>
#include <readline/readline.h>

/* Swift may not touch the library's global variables; these set them, before the first line. */

static inline void cdprof_readline_begin(const char *name, int (*next_byte)(FILE *)) {
  rl_readline_name = name;
  rl_getc_function = next_byte;
  using_history();
}

#endif
