#define _GNU_SOURCE
#include "cfloor.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { piece = 1 << 18 };

typedef struct {
  char *text;
  size_t length;
  uint64_t hash;
  long runs;
} shape;

typedef struct {
  shape *all;
  size_t capacity;
  cfloor_log *log;
} reader;

static uint64_t hash_of(const char *text, size_t length) {
  uint64_t hash = 14695981039346656037u;
  for (size_t index = 0; index < length; index++) {
    hash = (hash ^ (unsigned char)text[index]) * 1099511628211u;
  }
  return hash;
}

/* The place of a statement, or the free one for it. */
static shape *place(shape *all, size_t capacity, uint64_t hash, const char *text, size_t length) {
  size_t index = hash & (capacity - 1);
  while (all[index].text &&
         (all[index].hash != hash || all[index].length != length ||
          memcmp(all[index].text, text, length) != 0)) {
    index = (index + 1) & (capacity - 1);
  }
  return &all[index];
}

static int count(reader *reader, const char *text, size_t length) {
  uint64_t hash = hash_of(text, length);
  if (2 * (size_t)reader->log->statements >= reader->capacity) {
    size_t capacity = reader->capacity ? 2 * reader->capacity : 1024;
    shape *all = calloc(capacity, sizeof(shape));
    if (!all) return -1;
    for (size_t index = 0; index < reader->capacity; index++) {
      shape *old = &reader->all[index];
      if (old->text) *place(all, capacity, old->hash, old->text, old->length) = *old;
    }
    free(reader->all);
    reader->all = all;
    reader->capacity = capacity;
  }
  shape *found = place(reader->all, reader->capacity, hash, text, length);
  if (!found->text) {
    found->text = malloc(length);
    if (!found->text) return -1;
    memcpy(found->text, text, length);
    found->length = length;
    found->hash = hash;
    reader->log->statements++;
  }
  found->runs++;
  reader->log->executions++;
  return 0;
}

/* Adds `0.0123s` in microseconds. */
static void add_time(reader *reader, const char *text, const char *end) {
  long number = 0;
  int places = -1;
  for (; text < end && ((*text >= '0' && *text <= '9') || *text == '.'); text++) {
    if (*text == '.') {
      places = 0;
    } else {
      number = number * 10 + (*text - '0');
      if (places >= 0) places++;
    }
  }
  for (; places < 6; places++) number *= 10;
  reader->log->microseconds += number;
}

static int take(reader *reader, const char *line, size_t length) {
  reader->log->lines++;
  const char *end = line + length;
  const char *mark = memmem(line, length, "CoreData: ", 10);
  if (!mark) return 0;
  const char *text = mark + 10;
  if (end - text > 5 && memcmp(text, "sql: ", 5) == 0) {
    return count(reader, text + 5, (size_t)(end - text - 5));
  }
  if (end - text > 12 && memcmp(text, "annotation: ", 12) == 0) {
    const char *time = memmem(text, (size_t)(end - text), " time: ", 7);
    if (time) add_time(reader, time + 7, end);
  }
  return 0;
}

int cfloor_read_log(const char *path, cfloor_log *log) {
  memset(log, 0, sizeof *log);
  int file = open(path, O_RDONLY);
  if (file < 0) return -1;
  reader reader = {NULL, 0, log};
  size_t capacity = 2 * piece, filled = 0;
  char *buffer = malloc(capacity);
  int result = buffer ? 0 : -1;
  ssize_t got;
  while (result == 0 && (got = read(file, buffer + filled, capacity - filled)) > 0) {
    char *line = buffer, *end = buffer + filled + got, *feed;
    while (result == 0 && (feed = memchr(line, '\n', (size_t)(end - line)))) {
      result = take(&reader, line, (size_t)(feed - line));
      line = feed + 1;
    }
    filled = (size_t)(end - line);
    memmove(buffer, line, filled);
    if (filled == capacity) result = -1;
  }
  if (result == 0 && filled > 0) result = take(&reader, buffer, filled);
  for (size_t index = 0; index < reader.capacity; index++) free(reader.all[index].text);
  free(reader.all);
  free(buffer);
  close(file);
  return result;
}
