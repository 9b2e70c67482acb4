#!/bin/sh
# Reads random inputs with libFuzzer, as many targets at once as there are cores.
#
#   fuzz.sh SECONDS [TARGET …]      without targets, all of them
#
# The corpus that's committed is in Tests/Fuzzer/Corpus. What a run finds is added to a copy in .build/fuzzer/corpus. An
# input that ends the program is left in .build/fuzzer/failures, and fails the script.
set -eu

seconds=$1
shift
all='predicate document mom mapping cdm plist log scenario line result store'
targets=${*:-$all}
scratch=.build/fuzzer
corpus=$scratch/corpus
failures=$scratch/failures

# gold can't link the instrumented objects.
CDPROF_FUZZER=1 swift build -c release --product Fuzzer --scratch-path "$scratch" -Xswiftc -sanitize=fuzzer \
  -Xswiftc -use-ld=lld
fuzzer=$(CDPROF_FUZZER=1 swift build -c release --scratch-path "$scratch" --show-bin-path)/Fuzzer

mkdir -p "$corpus" "$failures"
"$fuzzer" seeds "$corpus"

# libFuzzer writes the input that ends the program.
export SWIFT_BACKTRACE=enable=no

# A target has the memory and time that a command may use for hostile input.
printf '%s\n' $targets | xargs -P "$(getconf _NPROCESSORS_ONLN)" -I '{}' sh -c '
  target=$1
  committed=Tests/Fuzzer/Corpus/$target
  mkdir -p "$committed"
  dictionary=Tests/Fuzzer/Dictionaries/$target.dict
  set -- "$2/$target" "$committed" -max_total_time="$3" -timeout=5 -rss_limit_mb=500 -print_final_stats=1 \
    -artifact_prefix="$4/$target-"
  [ ! -f "$dictionary" ] || set -- "$@" -dict="$dictionary"
  "$5" "$target" "$@" >"$4/$target.log" 2>&1 || {
    tail -n 40 "$4/$target.log"
    printf "%s\n" "fuzz.sh: $target failed; see $4/$target.log"
    exit 1
  }
  grep -E "number_of_executed_units|peak_rss_mb" "$4/$target.log" | sed "s/^/$target: /"
' sh '{}' "$corpus" "$seconds" "$failures" "$fuzzer"
