#!/bin/sh
# Reads random inputs with libFuzzer, as many targets at once as there are cores.
#
#   fuzz.sh SECONDS [TARGET …]      without targets, all of them
#
# A sample of inputs that reach different code is in Tests/Fuzzer/Corpus. What a run finds is added to .build/fuzzer/corpus. An
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
  target=$1 corpus=$2 failures=$3 seconds=$4 fuzzer=$5
  dictionary=Tests/Fuzzer/Dictionaries/$target.dict
  set -- "$corpus/$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=500 -print_final_stats=1 \
    -artifact_prefix="$failures/$target-"
  [ ! -d "Tests/Fuzzer/Corpus/$target" ] || set -- "$@" "Tests/Fuzzer/Corpus/$target"
  [ ! -f "$dictionary" ] || set -- "$@" -dict="$dictionary"
  if "$fuzzer" "$target" "$@" >"$failures/$target.log" 2>&1; then
    sed -nE "s/^stat::(number_of_executed_units|peak_rss_mb): */$target: \1 /p" "$failures/$target.log"
  else
    tail -n 40 "$failures/$target.log"
    printf "%s\n" "fuzz.sh: $target failed; see $failures/$target.log"
    exit 1
  fi
' sh '{}' "$corpus" "$failures" "$seconds" "$fuzzer"
