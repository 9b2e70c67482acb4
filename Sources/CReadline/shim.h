#ifndef CREADLINE_SHIM_H
#define CREADLINE_SHIM_H

/* readline's headers use FILE without including its header. */
#include <stdio.h>
#include <string.h>

#include <readline/history.h>
#include <readline/readline.h>

/* Swift may not touch the library's global variables; these set them, before the first line. */

static inline void cdprof_readline_begin(const char *name, int (*next_byte)(FILE *),
                                         char **(*complete)(const char *, int, int)) {
  rl_readline_name = name;
  rl_getc_function = next_byte;
  rl_catch_signals = 0;
  rl_catch_sigwinch = 0;
  rl_attempted_completion_function = complete;
  rl_completer_word_break_characters = " \t\n,[]\"'";
  /* A word inside of a text is not its end: the text is left open behind it. */
  rl_basic_quote_characters = "";
  using_history();
}

/* The line as it is typed so far. */
static inline const char *cdprof_readline_line(void) { return rl_line_buffer; }

/* Keeps readline from completing the names of files this time. */
static inline void cdprof_readline_offer_no_files(void) { rl_attempted_completion_over = 1; }

/* Adds a line to the history, unless it is the last one there already, and returns the number of
   added lines. */
static inline int cdprof_readline_remember(const char *line) {
  HIST_ENTRY *last = history_get(history_base + history_length - 1);
  if (last != NULL && strcmp(last->line, line) == 0) return 0;
  add_history(line);
  return 1;
}

#endif
