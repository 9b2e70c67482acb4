#!/bin/sh
# Writes the sample report again with the release build. A test compares its counts with a fresh run,
# so this is needed after a change to the scenario, to the counts or to the form of a report.
#
#   samples.sh SCENARIO FOLDER
set -eu

scenario=$1
folder=$2
cdprof=$(swift build -c release --show-bin-path)/cdprof

"$cdprof" run "$scenario" --report html,json --out "$folder"

# The store is as large as its data and can be made again from the scenario.
name=$(basename "$scenario")
rm -f "$folder/${name%.*}.sqlite"
