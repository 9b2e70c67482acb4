#!/bin/sh
# Fails file operations, statements, and allocations of everything that writes.
#
#   faults.sh LONG START STEP [OPTION …]    the options are those of swift test
#
# An empty LONG fails a sample of 12 for each cause. Otherwise, each file operation and statement fails, and every STEPth
# allocation from START on, in a release build, with files in memory where that's possible.
set -eu

long=$1 start=$2 step=$3
shift 3
set -- --disable-xctest "$@" --filter 'FailureTests|FailingFilesTests|PowerLossTests'

if [ -z "$long" ]; then
  CDPROF_FAULTS=12 exec swift test "$@"
fi

if [ -d /dev/shm ]; then
  TMPDIR=$(mktemp -d /dev/shm/cdprof.XXXXXX)
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
  trap 'exit 130' INT TERM
fi
CDPROF_FAULTS=all CDPROF_ALLOCATIONS="$start,$step" \
  swift test -c release --scratch-path .build/faults -Xswiftc -enable-testing "$@"
