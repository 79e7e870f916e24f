# Shared by the parts of ./dev: what is printed, where things are kept. Sourced; $root is set.
#
# Conventions: say() tells each step with the time since the start; die() is the one line that tells
# what to do. Functions whose failure `||` handles chain with &&, because there `set -e` sleeps.

started=$(date +%s)
: "${HOME:=/root}"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tautochrone
logs=$root/build/log
jobs=$(nproc)

# Clones in different folders share what the compiler made.
export CCACHE_BASEDIR="$root" CCACHE_NOHASHDIR=1

say() {
  printf '[%4d s] %s\n' "$(($(date +%s) - started))" "$*"
}

die() {
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

# logged NAME COMMAND...: runs it with all output in build/log/NAME.log, which `log` names.
logged() {
  log=$logs/$1.log
  shift
  mkdir -p "$logs"
  "$@" >"$log" 2>&1
}

# log_name: the current log, as one would type it.
log_name() {
  printf '%s' "${log#"$root"/}"
}

# count_of NAME VALUE DEFAULT: VALUE or DEFAULT, which must be a whole number above 0.
count_of() {
  value=${2:-$3}
  case $value in
    '' | *[!0-9]* | 0*) die "$1 must be a whole number above 0, not '$value'" ;;
  esac
  printf '%s' "$value"
}
