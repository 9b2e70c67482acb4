#!/bin/sh
# Regenerates the README's picture: the first screen of the demo's report in headless Chromium.
#
#   picture.sh SCENARIO REPORTS PICTURE
set -eu

scenario=$1
reports=$2
picture=$3
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "picture.sh: Chromium isn't installed; run: apt-get install chromium" >&2
  exit 1
}

cdprof=$(swift build -c release --show-bin-path)/cdprof
"$cdprof" run "$scenario" --report html --out "$reports" --quiet
name=$(basename "$scenario")

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
"$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
  --window-size=1280,800 --user-data-dir="$profile" --screenshot="$PWD/$picture" \
  "file://$PWD/$reports/${name%.*}.html" >"$profile/log" 2>&1 || { cat "$profile/log" >&2; exit 1; }
