#!/usr/bin/env bash
# Checks the layout of every first-party file; `check_format.sh --fix` repairs it.
#
# C++ is clang-format's business; other text has no tabs, no trailing blanks and
# one final newline. Goldens and test data may hold anything. Exit status 77:
# no clang-format of the version whose layout we follow.
set -euo pipefail
readonly VERSION=14

self=$(readlink -f -- "${BASH_SOURCE[0]}")
cd "${self%/tools/*}"
shopt -s nullglob

clang_format=clang-format-$VERSION
command -v $clang_format >/dev/null || clang_format=clang-format
if ! $clang_format --version 2>/dev/null | grep -q "version $VERSION\."; then
  echo "needs clang-format $VERSION: apt-get install clang-format-$VERSION" >&2
  exit 77
fi

mapfile -t cxx < <(find src tests tools collect -name '*.h' -o -name '*.cc' \
  -o -name '*.cu' | sort)
mapfile -t text < <({
  find src baselines cmake data collect tests tools docs .ci -type f \( -name '*.md' \
    -o -name '*.py' -o -name '*.sh' -o -name '*.cmake' -o -name '*.toml' \
    -o -name '*.proto' -o -name CMakeLists.txt \) \
    -not -path 'tests/golden/*/*' -not -path 'tests/data/*' \
    -not -path 'tests/fuzz/corpus/*'
  printf '%s\n' ./*.md CMakeLists.txt CMakePresets.json stepcast run_tests \
    .ci/run .clang-format .clang-tidy .editorconfig .gitignore
} | sort)

if [[ ${1:-} == --fix ]]; then
  [[ ${#cxx[@]} == 0 ]] || $clang_format -i "${cxx[@]}"
  # `a\` adds only a missing newline.
  # shellcheck disable=SC1003
  sed -i -e 's/[ \t]*$//' -e '$a\' "${text[@]}"
fi

status=0
if ((${#cxx[@]} > 0)); then
  $clang_format --dry-run -Werror --ferror-limit=1 "${cxx[@]}" || status=1
fi
tab=$'\t'
grep -nE "$tab|[ $tab]\$" "${text[@]}" && status=1
for file in "${text[@]}"; do
  if [[ -s $file && -n $(tail -c 1 "$file") ]]; then
    echo "$file: no newline at the end"
    status=1
  fi
done
((status == 0)) || echo "run tools/check_format.sh --fix" >&2
exit $status
