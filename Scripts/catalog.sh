#!/bin/sh
# Lists the behaviors of Documentation/catalog.txt that scenarios and tests cover.
#
#   catalog.sh           print `N of M covered`, then the behaviors that aren't covered
#   catalog.sh --where   print `N of M covered`, then each covered ID and the first line that names it
#
# A scenario covers the IDs in its `covers:`. A test covers the IDs at the start of its name,
# `@Test("S6.01 a plain fetch …")`, or at the start of the first string of a table's case,
# `("S6.01", 5)`. Commas or spaces separate several IDs. Comments, multiline string literals,
# arguments of calls, literals after a label or `=`, and lines that contain `.disabled(` or
# `covers:` are ignored. An ID that isn't in the catalog is an error: exit status 1.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
list=Documentation/catalog.txt
[ -r "$list" ] || { echo "catalog.sh: can't read $list" >&2; exit 1; }

named=$(mktemp)
trap 'rm -f "$named"' EXIT
trap 'exit 130' HUP INT TERM

# Each line of this file is an ID and FILE:LINE, separated by a tab.
if [ -d Scenarios ]; then
  find Scenarios -type f \( -name '*.yml' -o -name '*.yaml' \) | LC_ALL=C sort |
    while IFS= read -r file; do
      awk '
        { line = $0 }
        /^covers[ \t]*:/ { inside = 1; sub(/^covers[ \t]*:/, "", line) }
        inside && !/^covers[ \t]*:/ && /^[^ \t#-]/ { inside = 0 }
        inside {
          sub(/(^|[ \t])#.*$/, "", line)
          count = split(line, words, /[^A-Za-z0-9.-]+/)
          for (i = 1; i <= count; i++)
            if (words[i] ~ /^S[0-9-]/) print words[i] "\t" FILENAME ":" FNR
        }' "$file"
    done >>"$named"
fi
if [ -d Tests ]; then
  find Tests Examples/*/Tests -type f -name '*.swift' 2>/dev/null | LC_ALL=C sort |
    while IFS= read -r file; do
      awk '
        # Prints the IDs at the start of a string literal.
        function ids(text,    id) {
          while (match(text, /^S([0-9]+\.[0-9]+|[0-9]+-[0-9]+b?|-[A-Z][0-9]+)/)) {
            id = substr(text, 1, RLENGTH)
            text = substr(text, RLENGTH + 1)
            if (text ~ /^[A-Za-z0-9-]/) return
            print id "\t" FILENAME ":" FNR
            sub(/^[, ]+/, "", text)
          }
        }
        {
          line = $0
          before = ""
          if (line ~ /\.disabled\(|covers:/) next
          while (line != "") {
            if (inText) {
              if (!(at = index(line, "\"\"\""))) next
              line = substr(line, at + 3); inText = 0
            } else if (inComment) {
              if (!(at = index(line, "*/"))) next
              line = substr(line, at + 2); inComment = 0
            } else if (!match(line, /"""|"([^"\\]|\\.)*"|\/\/|\/\*/)) {
              next
            } else {
              found = substr(line, RSTART, RLENGTH)
              before = before substr(line, 1, RSTART - 1)
              line = substr(line, RSTART + RLENGTH)
              if (found == "//") next
              # `""` is an empty literal, or the start of a multiline literal if a third mark follows.
              if (found == "\"\"" && substr(line, 1, 1) == "\"") { inText = 1; line = substr(line, 2) }
              else if (found == "\"\"\"") inText = 1
              else if (found == "/*") inComment = 1
              else {
                # The name of a test, an element of an array, or the first element of a tuple, but not
                # an argument of a call.
                if (before ~ /(@Test\(|@Suite\(|(^|[^A-Za-z0-9_>)])\(|\[|,|^)[ \t]*$/)
                  ids(substr(found, 2, length(found) - 2))
                before = before "\"\""
              }
            }
          }
        }' "$file"
    done >>"$named"
fi

awk -v mode="${1:-}" '
  FNR == NR {
    if ($0 !~ /^#/ && NF) {
      order[++total] = $1
      words[$1] = $0
    }
    next
  }
  !($1 in words) { unknown[++strangers] = $2 ": " $1 " is not in the catalog"; next }
  !($1 in place) { place[$1] = $2; covered++ }
  END {
    printf "%d of %d covered\n", covered, total
    for (i = 1; i <= total; i++) {
      id = order[i]
      if (mode == "--where") { if (id in place) printf "%-8s %s\n", id, place[id] }
      else if (!(id in place)) print words[id]
    }
    for (i = 1; i <= strangers; i++) print unknown[i] | "cat 1>&2"
    exit strangers > 0
  }' "$list" "$named"
