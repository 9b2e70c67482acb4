#!/bin/sh
# Runs one scenario with the release build and says what to open and what to type next.
#
#   demo.sh SCENARIO REPORTS
set -eu

scenario=$1
reports=$2
cdprof=$(swift build -c release --show-bin-path)/cdprof

"$cdprof" run "$scenario" --report html --out "$reports"

name=$(basename "$scenario")
page=$reports/${name%.*}.html
if [ ! -s "$page" ]; then
  printf '%s\n' "cdprof said it ran $scenario, but there's no page at $page." >&2
  exit 1
fi
printf '\n%s\n' "Open this page:     $PWD/$page"
printf '%s\n' "Then type it all:   $cdprof shell $scenario"
printf '%s\n' "Change a line of    $scenario, and run it again:   make demo"
