#!/bin/sh
# A PostgreSQL server for tests, whose data is in a folder, and which listens on a Unix-domain socket there only.
# It trusts everyone who can reach the folder.
#
#   server.sh create FOLDER                    create the data in an empty folder
#   server.sh start FOLDER [NAME=VALUE ...]    start the server, with settings
#   server.sh stop FOLDER                      stop it at once, without a checkpoint
#   server.sh kill FOLDER                      kill its first process
#   server.sh url FOLDER                       print the URI of its database
#
# `start` waits for the processes of a server that was killed. The log is FOLDER/server.log; each line begins with the
# application name of the connection.
set -eu

say() { printf '%s\n' "$*" >&2; }

[ $# -ge 2 ] || { say "server.sh create|start|stop|kill|url FOLDER"; exit 2; }
command=$1
folder=$2
shift 2

if command -v pg_config >/dev/null 2>&1; then bin=$(pg_config --bindir); else bin=; fi
if [ ! -x "$bin/initdb" ]; then
  say "The tests require a PostgreSQL server. On Debian: apt-get install postgresql libpq-dev"
  exit 1
fi

# The server refuses to run as root.
if [ "$(id -u)" -eq 0 ]; then
  as_server() { runuser -u postgres -- "$@"; }
else
  as_server() { "$@"; }
fi

start() {
  options="-c listen_addresses='' -c unix_socket_directories='$folder' -c log_line_prefix='%a '"
  for setting in "$@"; do options="$options -c $setting"; done
  as_server "$bin/pg_ctl" -D "$folder/data" -l "$folder/server.log" -w -t 60 start -o "$options" >/dev/null
}

case $command in
create)
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$folder"; fi
  chmod 700 "$folder"
  as_server "$bin/initdb" -D "$folder/data" -U tester --auth=trust --encoding=UTF8 --locale=C \
    --no-sync --no-instructions >"$folder/initdb.log" 2>&1 || { cat "$folder/initdb.log" >&2; exit 1; }
  ;;
start)
  for attempt in 1 2 3 4 5 6 7 8 9; do
    if start "$@" 2>/dev/null; then exit 0; fi
    sleep 0.5
  done
  start "$@" || { tail -n 20 "$folder/server.log" >&2; exit 1; }
  ;;
stop)
  as_server "$bin/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1
  ;;
kill)
  kill -KILL "$(head -n 1 "$folder/data/postmaster.pid")"
  ;;
url)
  printf 'postgres:///postgres?host=%s&user=tester\n' "$folder"
  ;;
*)
  say "server.sh: unknown command '$command'"
  exit 2
  ;;
esac
