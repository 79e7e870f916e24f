# Tests, simulation, lint, fuzzing.

passed=0
failed=0

dev_test() {
  presets='dev asan tsan'
  case ${1:-} in
    '') ;;
    --quick) presets=dev ;;
    *) die "test takes --quick or nothing, not '$1'" ;;
  esac
  need_packages build test
  need_onnxruntime || say "the tests of ONNX models will skip: $why"
  for preset_tested in $presets; do
    test_preset "$preset_tested"
  done
  say "done"
  printf '%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# test_preset PRESET: builds and tests it, adding to `passed` and `failed`. What does not build, or
# ends without ctest's closing line, is one failure.
test_preset() {
  build "$1" all || {
    say "preset $1 does not build; mend what is shown above"
    failed=$((failed + 1))
    return 0
  }
  say "test $1"
  log=$logs/test-$1.log
  # Thread sanitizer's fixed address layout and the kernel's random one do not always agree.
  fixed_layout=
  [ "$1" != tsan ] || ! setarch -R true 2>/dev/null || fixed_layout='setarch -R'
  $fixed_layout ctest --preset "$1" -j "$jobs" --no-tests=error 2>&1 | tee "$log"
  closing=$(sed -n 's/.*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log" |
    tail -n 1)
  if [ -z "$closing" ]; then
    say "preset $1: ctest did not finish; see $(log_name)"
    failed=$((failed + 1))
    return 0
  fi
  failed=$((failed + ${closing% *}))
  passed=$((passed + ${closing#* } - ${closing% *}))
}

dev_sim() {
  seeds=$(count_of "the number of seeds" "${1:-}" 1000)
  need_packages build test
  need_onnxruntime || true
  build dev sched_seeds || build_failed dev
  say "seeds 1 to $seeds"
  "$root/build/dev/sched_seeds" 1 "$seeds" ||
    die "a seed failed; the line above replays it alone; keep it in tests/seeds/"
  say "$seeds seeds passed"
}

dev_lint() {
  since=
  case ${1:-} in
    '') ;;
    --changed) since=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD) ;;
    *) die "lint takes --changed (what git has not pushed yet) or nothing, not '$1'" ;;
  esac
  need_packages build test lint
  need_onnxruntime || true
  say "house rules (tools/tidy.py)"
  python3 -B tools/tidy.py . || die "the house rules above are broken; tools/tidy.py explains each"
  sources=$(sources_since "$since" h cc)
  [ -n "$sources" ] || {
    say "no C++ file changed: clean"
    return 0
  }
  say "formatting"
  # shellcheck disable=SC2086
  clang-format-14 --dry-run -Werror $sources ||
    die "run: clang-format-14 -i \$(git ls-files '*.h' '*.cc')"
  build dev all -DTAUTO_BENCH=ON || build_failed dev
  say "each header alone"
  logged headers cmake --build --preset dev --target all_verify_interface_header_sets || {
    show_build_failure
    die "a header does not compile alone; add what it includes"
  }
  pattern=$(sources_since "$since" cc | grep -v '^fuzz/' | sed "s|.*|^$root/&\$|")
  say "clang-tidy, $(printf '%s\n' "$pattern" | grep -c .) files"
  # shellcheck disable=SC2086
  [ -z "$pattern" ] ||
    logged clang-tidy run-clang-tidy-14 -quiet -p build/dev -j "$jobs" $pattern || {
    sed "s/$(printf '\033')\[[0-9;]*m//g; s|$root/||g" "$log" | grep -E ': (error|warning):' |
      sort -u | head -n 60
    die "clang-tidy has the findings above; mend them ($(log_name) has all)"
  }
  say "clean"
}

# sources_since COMMIT SUFFIX...: our C++ files, those that changed since COMMIT when it is given.
sources_since() {
  commit=$1
  shift
  for suffix in "$@"; do
    set -- "$@" "src/*.$suffix" "tests/*.$suffix" "bench/*.$suffix" "fuzz/*.$suffix"
    shift
  done
  if [ -n "$commit" ]; then
    git diff --name-only --diff-filter=d "$commit" -- "$@"
    git ls-files --others --exclude-standard -- "$@"
  else
    git ls-files --cached --others --exclude-standard -- "$@"
  fi | sort -u | while read -r path; do [ ! -f "$path" ] || printf '%s\n' "$path"; done
}

dev_fuzz() {
  seconds=$(count_of "the number of seconds" "${1:-}" 60)
  need_packages build lint
  build fuzz all || build_failed fuzz
  programs=$(find "$root/build/fuzz" -maxdepth 1 -name '*_fuzz' -type f | sort)
  [ -n "$programs" ] || die "fuzz/CMakeLists.txt lists no target"
  count=$(printf '%s\n' "$programs" | wc -l)
  each=$(((seconds + count - 1) / count))
  for program in $programs; do
    name=${program##*/}
    say "$name for $each s"
    mkdir -p "$root/build/fuzz/corpus/$name" "$root/build/fuzz/found"
    seeds=$root/fuzz/corpus/$name
    [ -d "$seeds" ] || seeds=
    logged "fuzz-$name" "$program" -max_total_time="$each" -timeout=10 -rss_limit_mb=2048 \
      -artifact_prefix="$root/build/fuzz/found/$name-" "$root/build/fuzz/corpus/$name" $seeds ||
      die "$name found something: see $(log_name); the input is in build/fuzz/found/"
    tail -n 1 "$log"
  done
  say "$count targets, nothing found"
}
