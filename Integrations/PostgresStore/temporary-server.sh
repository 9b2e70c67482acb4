# Read by scripts of this folder: starts a PostgreSQL server in a temporary folder, and stops and removes it when the
# script ends. Sets `folder`, and `url`, the URI of its database. Further settings of the server are in `settings`.

folder=$(mktemp -d "${TMPDIR:-/tmp}/postgres-store.XXXXXX")
stop() {
  sh ./server.sh stop "$folder" || true
  rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

sh ./server.sh create "$folder"
# A session that sets synchronous_commit to on waits in COMMIT for a standby that doesn't exist.
sh ./server.sh start "$folder" fsync=off max_connections=200 synchronous_standby_names=nobody \
  synchronous_commit=local ${settings:-}
url=$(sh ./server.sh url "$folder")
