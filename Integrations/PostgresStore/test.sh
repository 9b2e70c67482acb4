#!/bin/sh
# Starts a PostgreSQL server in a temporary folder, runs the tests against it, then stops and removes it.
# The server listens on a Unix-domain socket in that folder only, and trusts who can reach it.
#
#   test.sh [ARGUMENTS]    ARGUMENTS are those of swift test, such as --filter Predicate
set -eu
cd "$(dirname "$0")"

say() { printf '%s\n' "$*" >&2; }

if command -v pg_config >/dev/null 2>&1; then bin=$(pg_config --bindir); else bin=; fi
if [ ! -x "$bin/initdb" ]; then
  say "The tests require a PostgreSQL server. On Debian: apt-get install postgresql libpq-dev"
  exit 1
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/postgres-store.XXXXXX")
# The server refuses to run as root.
if [ "$(id -u)" -eq 0 ]; then
  chown postgres "$folder"
  as_server() { runuser -u postgres -- "$@"; }
else
  as_server() { "$@"; }
fi
chmod 700 "$folder"

stop() {
  as_server "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

as_server "$bin/initdb" -D "$folder/data" -U tester --auth=trust --encoding=UTF8 --locale=C \
  --no-sync --no-instructions >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; exit 1; }
# A session that sets synchronous_commit to on waits in COMMIT for a standby that doesn't exist.
as_server "$bin/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w start -o \
  "-c listen_addresses='' -c unix_socket_directories='$folder' -c fsync=off -c max_connections=200 \
  -c synchronous_standby_names=nobody -c synchronous_commit=local" \
  >/dev/null || { cat "$folder/server.log" >&2; exit 1; }

# In the repository's scratch folder, so that what its tests have compiled isn't compiled again.
POSTGRES_STORE_TEST_URL="postgres:///postgres?host=$folder&user=tester" \
  swift test --scratch-path ../../.build --disable-xctest --disable-build-manifest-caching \
  --explicit-target-dependency-import-check error "$@"
