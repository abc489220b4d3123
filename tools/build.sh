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
  # What ccache must know of precompiled headers.
  CCACHE_SLOPPINESS=pch_defines,time_macros NINJA_STATUS='[%f/%t] ' \
    cmake --build "$root/build/$preset" --target "$@" \
    </dev/null 2>&1 | tee -a "$root/build/$preset.log" | show_progress
}

# explain_failure NAME: shows the errors in build/NAME.log and what to do.
explain_failure() {
  local log=$root/build/$1.log
  grep -aE -A 12 'FAILED:|CMake Error|error:' "$log" | head -n 80 ||
    tail -n 30 "$log"
  echo "the whole log is in $log"
  if grep -qaE 'Killed|internal compiler error' "$log"; then
    echo "the compiler may have run out of memory: try again with" \
      "CMAKE_BUILD_PARALLEL_LEVEL=1"
  elif grep -qaE 'Could NOT find|could not find|No such file or dir' "$log"
  then
    echo "a library may be missing: without STEPCAST_SKIP_DEPS the packages in" \
      "tools/deps.sh are installed; if they are, remove build/$1 and try again"
  else
    echo "if the sources are as they were checked out, remove build/$1 and try" \
      "again"
  fi
}
