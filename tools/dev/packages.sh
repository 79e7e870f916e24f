# Debian packages, by what needs them. Installed only when missing, so a second run is offline.

packages_build='g++ cmake ninja-build ccache python3 python3-pip ca-certificates git
  libboost1.81-dev libsimdjson-dev libprotobuf-dev protobuf-compiler libcli11-dev
  nlohmann-json3-dev'
packages_test='libgtest-dev'
packages_lint='clang-14 clang-tidy-14 clang-format-14 libclang-rt-14-dev llvm-14'
packages_bench='libbenchmark-dev'

# need_packages SET...: makes sure that the packages of these sets (build test lint bench) are here.
need_packages() {
  missing=
  for set in "$@"; do
    eval "names=\$packages_$set"
    for package in $names; do
      # shellcheck disable=SC2016
      [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
        missing="$missing $package"
    done
  done
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null ||
    die "this machine has no apt-get; install by hand what tools/dev/packages.sh lists"
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "as root, run: apt-get install$missing"
    as_root='sudo'
  fi
  say "Debian packages:$missing"
  # A failing update is no reason to stop: one broken source of many may be of no concern to us.
  logged apt-update apt_get update || true
  # shellcheck disable=SC2086
  logged apt-install apt_get install $missing ||
    die "apt-get could not install all packages (see $(log_name)); check the network, run again"
}

apt_get() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Dpkg::Use-Pty=0 \
    -o Acquire::Retries=3 --no-install-recommends "$@"
}
