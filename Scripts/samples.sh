#!/bin/sh
# Regenerates the sample report with the release build. A test compares its counts with those of a new
# run, so run this script after a change to the scenario, the counts, or the format of a report.
#
#   samples.sh SCENARIO FOLDER
set -eu

scenario=$1
folder=$2
cdprof=$(swift build -c release --show-bin-path)/cdprof

"$cdprof" run "$scenario" --report html,json --out "$folder"

# The store is large, and can be regenerated from the scenario.
name=$(basename "$scenario")
rm -f "$folder/${name%.*}.sqlite"
