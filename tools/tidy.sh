#!/usr/bin/env bash
# Runs clang-tidy over first-party sources, as many at once as there are cores.
#
# usage: tidy.sh BUILD_DIR            every source the build compiles
#        tidy.sh BUILD_DIR --changed  what differs from HEAD, or, in a clean
#                                     tree, what the last commit changed
set -euo pipefail

self=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${self%/tools/*}
build=$(readlink -f -- "$1")
cd "$root"

# Sources of ours in the compilation database, largest first so that no core
# is left alone with a long one.
all_sources() {
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" |
    grep -E "^$root/(src|tests|tools)/" | sort -u | xargs -r ls -S
}

# Of those on stdin, the ones that changed or include a header that did.
only_changed() {
  local changed base=HEAD pattern
  if git diff --quiet HEAD; then
    base=HEAD~1
  fi
  changed=$({
    git diff --name-only "$base"
    git ls-files --others --exclude-standard
  } | grep -E '\.(h|cc)$') || return 0
  pattern=$(sed -n 's,^src/\(.*\.h\)$,#include "\1",p' <<<"$changed")
  while IFS= read -r file; do
    if grep -qxF "${file#"$root"/}" <<<"$changed" ||
      { [[ -n $pattern ]] && grep -qF "$pattern" "$file"; }; then
      echo "$file"
    fi
  done
}

# One file; prints only what it found, in one piece.
check_one() {
  local out
  if ! out=$(clang-tidy --quiet -p "$1" --header-filter="^$2/(src|tests|tools)/" \
    "$3" 2>/dev/null); then
    printf '%s\n' "${out:-$3: clang-tidy failed without a word}"
    return 1
  fi
}
export -f check_one

filter="cat"
[[ ${2:-} != --changed ]] || filter=only_changed
mapfile -t sources < <(all_sources | $filter)
echo "clang-tidy on ${#sources[@]} files" >&2
((${#sources[@]} > 0)) || exit 0
printf '%s\0' "${sources[@]}" |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'check_one "$@"' tidy "$build" "$root"
