# shellcheck shell=bash disable=SC2154
# Configures and builds one preset, with progress for the person who waits.
# Sourced by ./stepcast and ./run_tests, which set `root`.

# Shows ninja's "[3/40] ..." lines on stderr: all of them in place on a
# terminal, elsewhere one for each tenth of the way.
show_progress() {
  local line width tenth last=-1
  width=$(tput cols 2>/dev/null) || width=80
  while IFS= read -r line; do
    [[ $line =~ ^\[([1-9][0-9]*)/([0-9]+)\] ]] || continue
    tenth=$((BASH_REMATCH[1] * 10 / BASH_REMATCH[2]))
    if [[ -t 2 ]]; then
      printf '\r\033[K%.*s' $((width - 1)) "$line" >&2
    elif ((tenth != last)); then
      printf '%s\n' "$line" >&2
    fi
    last=$tenth
  done
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# Removes a build directory that came along with a copied tree: it still
# points to the old place.
drop_foreign_build() {
  local cache=$root/build/$1/CMakeCache.txt
  if [[ -e $cache ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
    rm -rf "${cache%/*}"
  fi
}

# Takes the lock of a preset's build directory on descriptor 9, so that two
# builds never write to it at once. Keep it only while building.
lock_build() {
  mkdir -p "$root/build" && exec 9>"$root/build/$1.lock" || return
  if ! flock -n 9; then
    say "waiting for another build to finish"
    flock 9
  fi
}

unlock_build() {
  exec 9>&-
}

# configure_preset PRESET [CMAKE OPTION...]: its output starts build/PRESET.log.
configure_preset() {
  local preset=$1
  shift
  if command -v ccache >/dev/null; then
    export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  drop_foreign_build "$preset"
  (cd "$root" && cmake --preset "$preset" "$@") \
    </dev/null >"$root/build/$preset.log" 2>&1
}

# build_preset PRESET TARGET...: brings targets of a configured preset up to
# date; the output goes to the end of build/PRESET.log.
build_preset() {
  local preset=$1
  shift
  NINJA_STATUS='[%f/%t] ' cmake --build "$root/build/$preset" --target "$@" \
    </dev/null 2>&1 | tee -a "$root/build/$preset.log" | show_progress
}
