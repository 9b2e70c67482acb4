#!/bin/sh
# Runs a scenario with the release build, and prints what to open and which commands to run next.
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
  printf '%s\n' "demo.sh: cdprof ran $scenario, but didn't write $page" >&2
  exit 1
fi
printf '\n%s\n' "Open the report:       $(cd "$reports" && pwd)/$(basename "$page")"
printf '%s\n' "Run it step by step:   $cdprof shell $scenario"
printf '%s\n' "Edit and run again:    $scenario, then make demo"
