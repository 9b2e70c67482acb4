#!/bin/sh
# Prepares this machine for building. Checks that Swift 6.3 or later is installed, and installs missing C libraries
# if this user is allowed to; otherwise, prints the command to install them.
#
#   prepare.sh          check Swift and the C libraries
#   prepare.sh --swift  check only Swift
set -eu

say() { printf '%s\n' "$*" >&2; }

if ! command -v swift >/dev/null 2>&1; then
  say "cdprof requires Swift 6.3 or later, but 'swift' isn't in the PATH."
  say "Install it from https://www.swift.org/install/linux/ and run the command again."
  exit 1
fi
# A development version of a later compiler may have a version that isn't recognized; it's accepted.
found=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p' | head -n 1)
if [ -n "$found" ]; then
  major=${found%%.*}
  minor=${found#*.}
  if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 3 ]; }; then
    say "cdprof requires Swift 6.3 or later, but 'swift' is version $found."
    say "Install it from https://www.swift.org/install/linux/ and run the command again."
    exit 1
  fi
fi
[ "${1:-}" = "--swift" ] && exit 0

# The C compiler that checks the libraries: the one next to swift, or any other.
compiler=
for candidate in "$(dirname "$(command -v swift)")/clang" clang cc gcc; do
  if command -v "$candidate" >/dev/null 2>&1; then
    compiler=$candidate
    break
  fi
done

links() { # HEADER LIBRARY: whether the header can be included and the library linked
  if [ -z "$compiler" ]; then
    [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]
    return
  fi
  printf '#include <stdio.h>\n#include <%s>\nint main(void) { return 0; }\n' "$1" |
    "$compiler" -x c - "-l$2" -o "$object/probe" >/dev/null 2>&1
}

object=$(mktemp -d)
trap 'rm -rf "$object"' EXIT
trap 'exit 130' HUP INT TERM

missing=
links sqlite3.h sqlite3 || missing="$missing libsqlite3-dev"
links readline/readline.h readline || missing="$missing libreadline-dev"
links zlib.h z || missing="$missing zlib1g-dev"
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  say "Missing C libraries (names of Debian packages):$missing"
  say "This machine has no apt-get. Install them with its package manager; on Fedora, the packages"
  say "are sqlite-devel, readline-devel, and zlib-devel."
  exit 1
fi

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  say "Missing C libraries:$missing"
  say "Install them, then run the command again:"
  say ""
  say "  sudo apt-get update && sudo apt-get install -y$missing"
  exit 1
fi

say "Installing$missing"
# Both variables must be split into words.
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >&2
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
