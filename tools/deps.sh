# shellcheck shell=bash disable=SC2034
# The Debian packages stepcast needs, and how the missing ones get installed.
# Sourced by ./stepcast and ./run_tests; needs bash.

BUILD_PACKAGES=(
  cmake ninja-build g++ pkg-config
  libcli11-dev libexpected-dev libfmt-dev libprotobuf-dev libsimdjson-dev
  libtomlplusplus-dev libxgboost-dev protobuf-compiler zlib1g-dev
)
TEST_PACKAGES=(
  libgtest-dev libgmock-dev libbenchmark-dev ccache lld
  python3 python3-numpy python3-xgboost
  chromium clang-14 clang-format clang-tidy libclang-rt-14-dev openmpi-bin
)

# Prints one line on stderr, marked with the name of the running script.
say() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
}

# Prints those of the named packages that are not installed.
missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' "$@" \
    2>/dev/null)" || true
  for package in "$@"; do
    [[ $installed == *" $package=installed "* ]] || echo "$package"
  done
}

# Runs apt-get as root, through sudo if need be. Its output goes to stderr and
# it never reads stdin: both streams belong to the program we are setting up.
apt_get() {
  local become=()
  ((EUID == 0)) || become=(sudo)
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2
}

# True if apt_get may work: root, sudo without a password, or a person at a
# terminal who knows it.
can_install() {
  command -v apt-get >/dev/null || return 1
  ((EUID == 0)) && return 0
  command -v sudo >/dev/null || return 1
  sudo -n true 2>/dev/null && return 0
  [[ -t 0 && -t 2 ]] && sudo -v
}

# Installs those of the named packages that are missing, or says which they are
# and returns 2. STEPCAST_SKIP_DEPS=1 trusts that the tools come from elsewhere.
ensure_packages() {
  [[ -z ${STEPCAST_SKIP_DEPS:-} ]] || return 0
  if ! command -v dpkg-query >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && return 0
    say "this is not Debian; install what these packages hold: $*"
    return 2
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} > 0)) || return 0
  local command="apt-get install -y --no-install-recommends ${missing[*]}"
  if ! can_install; then
    say "missing Debian packages: ${missing[*]}"
    say "neither root nor sudo is available; have them installed with: $command"
    return 2
  fi
  say "installing missing Debian packages: ${missing[*]}"
  apt_get update || say "apt-get update failed; trying with the lists we have"
  if ! apt_get install -y --no-install-recommends "${missing[@]}"; then
    say "could not install the missing packages; try as root: $command"
    return 2
  fi
}
