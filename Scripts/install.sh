#!/bin/sh
# Installs the program with its man pages, completions, scenarios, and licenses, or removes them.
#
#   install.sh FOLDER PREFIX [DESTDIR]     FOLDER contains the built cdprof and ManualTool
#   install.sh --remove PREFIX [DESTDIR]
#
# PREFIX/share/cdprof/installed-files lists what was installed, so that nothing else is removed. A file is listed before
# it's written, so that what an interrupted installation has written can be removed, too.
set -eu
umask 022

folder=$1
prefix=$2
root=${3:-}$prefix
list=share/cdprof/installed-files

remove() {
  [ -f "$root/$list" ] || return 0
  while IFS= read -r file; do
    rm -f "$root/$file"
  done <"$root/$list"
  rm -f "$root/$list"
  for own in "$root/lib/cdprof" "$root/share/cdprof" "$root/share/doc/cdprof"; do
    [ ! -d "$own" ] || find "$own" -depth -type d -empty -delete
  done
}

if [ "$folder" = --remove ]; then
  if [ ! -f "$root/$list" ]; then
    printf '%s\n' "install.sh: cdprof isn't installed in $root" >&2
    exit 1
  fi
  remove
  exit 0
fi

record() { # DESTINATION
  printf '%s\n' "$1" >>"$root/$list"
}

add() { # MODE SOURCE DESTINATION
  record "$3"
  install -D -m "$1" "$2" "$root/$3"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
cdprof=$folder/cdprof
source=$(cd "$(dirname "$0")/.." && pwd)

# Everything is generated before the first file is replaced. The status of a pipeline would be only that of its last
# command.
mkdir "$work/man"
version=$("$cdprof" --version)
version=${version#* }
"$cdprof" --experimental-dump-help >"$work/help"
"$folder/ManualTool" "$source/Documentation/cli.md" "${version%% *}" "$work/man" <"$work/help"
for shell in bash zsh fish; do
  "$cdprof" --generate-completion-script "$shell" >"$work/$shell"
done
ldd "$cdprof" >"$work/linked"
# The path of Swift may contain spaces.
sed -n 's|^[[:blank:]]*[^ ]* => \(.*/swift/linux/[^/]*\) (0x[0-9a-f]*)$|\1|p' "$work/linked" >"$work/libraries"
(cd "$source" && find Scenarios -type f ! -name README.md) >"$work/found"
LC_ALL=C sort "$work/found" >"$work/scenarios"
remove
mkdir -p "$root/$(dirname "$list")"
: >"$root/$list"

# Swift's libraries are next to the program, which searches its own folder for them, so that it runs
# where Swift isn't installed. Linked statically, Foundation can't write property lists.
add 755 "$cdprof" lib/cdprof/cdprof
while IFS= read -r library; do
  add 644 "$library" "lib/cdprof/$(basename "$library")"
done <"$work/libraries"
mkdir -p "$root/bin"
record bin/cdprof
ln -sf ../lib/cdprof/cdprof "$root/bin/cdprof"
for page in "$work"/man/*; do
  add 644 "$page" "share/man/man1/$(basename "$page")"
done
add 644 "$work/bash" share/bash-completion/completions/cdprof
add 644 "$work/zsh" share/zsh/site-functions/_cdprof
add 644 "$work/fish" share/fish/vendor_completions.d/cdprof.fish
add 644 "$source/LICENSE" share/doc/cdprof/LICENSE
# The packages that are linked into the program require that their licenses come with it. The folder also has packages
# that only the examples and integrations use.
resolved=$source/Package.resolved
for license in "$source"/.build/checkouts/*/LICENSE*; do
  [ -f "$license" ] || continue
  package=$(basename "$(dirname "$license")")
  [ ! -f "$resolved" ] || grep -q "/$package\(\.git\)\{0,1\}\"" "$resolved" || continue
  add 644 "$license" "share/doc/cdprof/licenses/$package.txt"
done
while IFS= read -r file; do
  add 644 "$source/$file" "share/cdprof/$file"
done <"$work/scenarios"
