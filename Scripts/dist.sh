#!/bin/sh
# Writes an archive of the installed files, and its SHA-256. The same files make the same archive.
#
#   dist.sh FOLDER OUTPUT     FOLDER contains the built cdprof and ManualTool
#
# SOURCE_DATE_EPOCH is the date of the files in the archive; by default, that of the last commit.
set -eu

folder=$1
output=$2
source=$(cd "$(dirname "$0")/.." && pwd)
version=$("$folder/cdprof" --version)
version=${version#* }
name=cdprof-${version%% *}-linux-$(uname -m)
date=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || echo 0)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
sh "$source/Scripts/install.sh" "$folder" "/$name" "$work"
# Without the list, so that a package manager that unpacks the archive isn't contradicted.
rm "$work/$name/share/cdprof/installed-files"
strip --strip-debug "$work/$name/lib/cdprof/cdprof"

# Not in a pipeline, whose status is only that of its last command. An archive that isn't complete isn't left in OUTPUT.
tar --create --format=ustar --sort=name --mtime="@$date" --owner=0 --group=0 --numeric-owner \
  --directory="$work" --file="$work/$name.tar" "$name"
gzip -9 -n "$work/$name.tar"
(cd "$work" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
mkdir -p "$output"
mv "$work/$name.tar.gz" "$work/$name.tar.gz.sha256" "$output/"
printf '%s\n' "written: $output/$name.tar.gz, $output/$name.tar.gz.sha256"
