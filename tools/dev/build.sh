# Setting up, building, cleaning.

dev_setup() {
  need_packages build test lint bench
  need_onnxruntime || die "$why"
  need_models || die "$why"
  say "ready: ./dev demo, ./dev test and the rest now work without a network"
}

dev_build() {
  need_packages build
  need_onnxruntime || say "without ONNX models: $why"
  build release tauto || build_failed release
  say "built build/release/tauto"
}

dev_clean() {
  rm -rf "$root/build"
  say "removed build/"
}

dev_bench() {
  need_packages build test bench
  need_onnxruntime || say "without ONNX models: $why"
  build release bench -DTAUTO_BENCH=ON || build_failed release
  for program in "$root"/build/release/*_bench; do
    [ -x "$program" ] || die "bench/ holds no benchmark yet"
    say "${program##*/}"
    "$program" --benchmark_filter="${1:-.}" ||
      die "${program##*/} failed; its own output above says why"
  done
}

# build PRESET TARGET [CMAKE OPTION...]: configures and builds, telling only what matters. Status 1
# when it failed; the compiler's words have been shown then.
build() {
  preset=$1
  target=$2
  shift 2
  say "configure $preset"
  logged "configure-$preset" cmake --preset "$preset" \
    -DTAUTO_ONNXRUNTIME_ROOT="$ort_root" "$@" || {
    tail -n 20 "$log"
    return 1
  }
  say "build $preset ($target)"
  if [ -t 1 ]; then
    log=
    cmake --build --preset "$preset" --target "$target" -j "$jobs"
  else
    logged "build-$preset" cmake --build --preset "$preset" --target "$target" -j "$jobs" || {
      show_build_failure
      return 1
    }
  fi
}

# What the compiler said, or ninja when it did not come to compiling.
show_build_failure() {
  if grep -q '^FAILED' "$log"; then
    sed -n '/^FAILED/,$p' "$log" | head -n 60
  else
    tail -n 5 "$log"
  fi
}

build_failed() {
  die "preset $1 does not build; mend what is shown above${log:+ (all of it: $(log_name))}"
}
