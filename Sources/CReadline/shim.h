#ifndef CREADLINE_SHIM_H
#define CREADLINE_SHIM_H

/* readline's headers use FILE without including its header. */
#include <stdio.h>

#include <readline/history.h>
#include <readline/readline.h>

#endif
