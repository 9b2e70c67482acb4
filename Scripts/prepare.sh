#!/bin/sh
# Makes this machine ready to build: Swift must be there; the C libraries are installed where they
# are missing and this user may. Says the exact command where it may not.
#
#   prepare.sh          checks Swift and the C libraries
#   prepare.sh --swift  checks Swift alone
set -eu

say() { printf '%s\n' "$*" >&2; }

if ! command -v swift >/dev/null 2>&1; then
  say "cdprof needs Swift 6.3 or later, and 'swift' is not on the PATH."
  say "Install it from https://www.swift.org/install/linux/ and run the same command again."
  exit 1
fi
[ "${1:-}" = "--swift" ] && exit 0

# Where the C compiler beside swift, or any other, can include a header and link its library.
compiler=
for candidate in "$(dirname "$(command -v swift)")/clang" clang cc gcc; do
  if command -v "$candidate" >/dev/null 2>&1; then
    compiler=$candidate
    break
  fi
done

links() { # header library
  if [ -z "$compiler" ]; then
    [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]
    return
  fi
  printf '#include <stdio.h>\n#include <%s>\nint main(void) { return 0; }\n' "$1" |
    "$compiler" -x c - "-l$2" -o "$object/probe" >/dev/null 2>&1
}

object=$(mktemp -d)
trap 'rm -rf "$object"' EXIT

missing=
links sqlite3.h sqlite3 || missing="$missing libsqlite3-dev"
links readline/readline.h readline || missing="$missing libreadline-dev"
links zlib.h z || missing="$missing zlib1g-dev"
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  say "Missing C libraries (Debian's names):$missing"
  say "This machine has no apt-get. Install the same three with its own package manager;"
  say "Fedora calls them sqlite-devel, readline-devel and zlib-devel."
  exit 1
fi

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  say "Missing C libraries:$missing"
  say "Install them, then run the same command again:"
  say ""
  say "  sudo apt-get update && sudo apt-get install -y$missing"
  exit 1
fi

say "Installing$missing"
# Both lists are meant to be split into words.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
