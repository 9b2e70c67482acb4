#!/bin/sh
# Compares the store with a C program on libpq that runs the same statements: starts a PostgreSQL server in a temporary
# folder, measures, then stops and removes it.
#
#   bench.sh [ARGUMENTS]    ARGUMENTS are those of postgres-bench: --rounds N, --only NAME
set -eu
cd "$(dirname "$0")"
swift build -c release --scratch-path ../../.build/bench-postgres --product postgres-bench \
  --explicit-target-dependency-import-check error
# What the server does at times of its own would be part of some rounds only.
settings="autovacuum=off checkpoint_timeout=1h max_wal_size=8GB"
. ./temporary-server.sh
../../.build/bench-postgres/release/postgres-bench --url "$url" --log "$folder/server.log" "$@"
