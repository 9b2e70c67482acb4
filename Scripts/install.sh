#!/bin/sh
# Installs the program with its man pages, completions, scenarios, and licenses, or removes them.
#
#   install.sh FOLDER PREFIX [DESTDIR]     FOLDER contains the built cdprof and ManualTool
#   install.sh --remove PREFIX [DESTDIR]
#
# PREFIX/share/cdprof/installed-files lists what was installed, so that nothing else is removed.
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

add() { # MODE SOURCE DESTINATION
  install -D -m "$1" "$2" "$root/$3"
  printf '%s\n' "$3" >>"$work/list"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cdprof=$folder/cdprof
source=$(cd "$(dirname "$0")/.." && pwd)

# Everything is generated before the first file is replaced.
mkdir "$work/man"
version=$("$cdprof" --version | cut -d ' ' -f 2)
"$cdprof" --experimental-dump-help |
  "$folder/ManualTool" "$source/Documentation/cli.md" "$version" "$work/man"
for shell in bash zsh fish; do
  "$cdprof" --generate-completion-script "$shell" >"$work/$shell"
done
remove

# Swift's libraries are next to the program, which searches its own folder for them, so that it runs
# where Swift isn't installed. Linked statically, Foundation can't write property lists.
add 755 "$cdprof" lib/cdprof/cdprof
ldd "$cdprof" | awk '$3 ~ /\/swift\/linux\// { print $3 }' >"$work/libraries"
while IFS= read -r library; do
  add 644 "$library" "lib/cdprof/$(basename "$library")"
done <"$work/libraries"
mkdir -p "$root/bin"
ln -sf ../lib/cdprof/cdprof "$root/bin/cdprof"
printf '%s\n' bin/cdprof >>"$work/list"
for page in "$work"/man/*; do
  add 644 "$page" "share/man/man1/$(basename "$page")"
done
add 644 "$work/bash" share/bash-completion/completions/cdprof
add 644 "$work/zsh" share/zsh/site-functions/_cdprof
add 644 "$work/fish" share/fish/vendor_completions.d/cdprof.fish
add 644 "$source/LICENSE" share/doc/cdprof/LICENSE
# The packages that are linked into the program require that their licenses come with it.
for license in "$source"/.build/checkouts/*/LICENSE*; do
  [ -f "$license" ] || continue
  add 644 "$license" "share/doc/cdprof/licenses/$(basename "$(dirname "$license")").txt"
done
(cd "$source" && find Scenarios -type f ! -name README.md | LC_ALL=C sort) >"$work/scenarios"
while IFS= read -r file; do
  add 644 "$source/$file" "share/cdprof/$file"
done <"$work/scenarios"
install -m 644 "$work/list" "$root/$list"
