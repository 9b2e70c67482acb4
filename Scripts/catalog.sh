#!/bin/sh
# Which behaviors of Documentation/catalog.txt a scenario or a test covers.
#
#   catalog.sh           `N of M covered`, then what is missing
#   catalog.sh --where   `N of M covered`, then each covered id and the first place that names it
#
# A scenario covers the ids of its `covers:`. A test covers the ids at the front of its name,
# `@Test("S6.01 a plain fetch …")`, or of the first text of a case in a table, `("S6.01", 5)`;
# several ids are separated by commas or spaces. Comments, multi-line literals, arguments of calls,
# what stands behind a label or `=`, and lines that say `.disabled(` or `covers:` do not count.
# An id that the catalog does not have is an error: exit status 1.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
list=Documentation/catalog.txt
[ -r "$list" ] || { echo "catalog.sh: no $list" >&2; exit 1; }

named=$(mktemp)
trap 'rm -f "$named"' EXIT

# Each line: id, file:line.
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
        # The ids at the front of a literal, one after another.
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
              # Swift counts the empty literal "" and the opening of a long one by the same marks.
              if (found == "\"\"" && substr(line, 1, 1) == "\"") { inText = 1; line = substr(line, 2) }
              else if (found == "\"\"\"") inText = 1
              else if (found == "/*") inComment = 1
              else {
                # A name of a test, an element of a list, the first of a tuple; no argument of a call.
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
  !($1 in words) { unknown[++strangers] = $2 ": no id " $1 " in the catalog"; next }
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
