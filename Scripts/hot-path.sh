#!/bin/sh
# Prints a digest of the sources that Benchmarks/hot-path.txt lists. Comments, indentation, and blank
# lines don't count: they change no figure.
set -eu
cd "$(dirname "$0")/.."
while read -r file; do
  [ -f "$file" ] || { echo "Benchmarks/hot-path.txt lists $file, which doesn't exist" >&2; exit 1; }
done < Benchmarks/hot-path.txt
while read -r file; do
  echo "$file"
  sed -e 's/^[[:space:]]*//' -e '/^\/\//d' -e '/^$/d' "$file"
done < Benchmarks/hot-path.txt | sha256sum | cut -c 1-16
