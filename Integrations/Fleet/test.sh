#!/bin/sh
# Runs the commands and the SQL of Documentation/fleet.md on generated logs, in DuckDB and in a PostgreSQL server in a
# temporary folder, and compares the answers with those that follow from the parameters of the logs.
#
#   test.sh CDPROF [LOGS]    the program, and the number of logs; 1,000 by default
set -eu
program=$(realpath "$1")
logs=${2:-1000}
here=$(cd "$(dirname "$0")" && pwd)

environment=$here/../../.build/fleet
[ -x "$environment/bin/pip" ] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"

cd "$here/../PostgresStore"
. ./temporary-server.sh
"$environment/bin/python" -B "$here/fleet.py" "$program" "$url" "$logs"
