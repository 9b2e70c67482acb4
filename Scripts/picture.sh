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
page=$(cd "$reports" && pwd)/${name%.*}.html

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
trap 'exit 130' HUP INT TERM
"$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
  --window-size=1280,800 --user-data-dir="$profile" --screenshot="$profile/picture.png" \
  "file://$page" >"$profile/log" 2>&1 || { cat "$profile/log" >&2; exit 1; }
# Chromium also ends with status 0 if it can't write the picture.
[ -s "$profile/picture.png" ] || { cat "$profile/log" >&2; exit 1; }
cp "$profile/picture.png" "$picture"
