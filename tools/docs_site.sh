#!/usr/bin/env bash
# Builds the documentation as a site.
#
#   tools/docs_site.sh [OUT_DIR]   writes it; default: build/site
#   tools/docs_site.sh --serve     shows it on localhost, and follows edits
#
# MkDocs Material goes into an environment outside the checkout, made on the
# first run: $STEPCAST_CACHE, or stepcast/ in the user's cache. A dead link, a
# page that nothing leads to or a chart without its table ends with status 1;
# status 77 if MkDocs cannot be installed.
set -euo pipefail

self=$(readlink -f -- "${BASH_SOURCE[0]}")
root=${self%/tools/*}
# shellcheck source=tools/deps.sh
source "$root/tools/deps.sh"
cd "$root"

readonly REQUIREMENTS=('mkdocs>=1.6,<2' 'mkdocs-material>=9.5,<10')
environment=${STEPCAST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stepcast}/site
stamp=$environment/requirements.txt

# Makes the environment if it is missing or made for other requirements.
ensure_mkdocs() {
  local wanted log
  wanted=$(printf '%s\n' "${REQUIREMENTS[@]}")
  [[ -e $stamp && $(<"$stamp") == "$wanted" ]] && return 0
  log=$(mktemp)
  say "installing MkDocs into $environment"
  rm -rf "$environment"
  mkdir -p "${environment%/*}"
  if python3 -m venv "$environment" >"$log" 2>&1 &&
    "$environment/bin/pip" install --quiet --disable-pip-version-check \
      --retries 1 --timeout 20 "${REQUIREMENTS[@]}" >>"$log" 2>&1; then
    printf '%s\n' "$wanted" >"$stamp"
    rm -f "$log"
    return 0
  fi
  tail -n 3 "$log" >&2
  rm -f "$log"
  say "skipped: MkDocs could not be installed; it needs python3-venv and PyPI"
  return 77
}

case ${1:-} in
  -h | --help)
    sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//p}' "$self"
    exit 0
    ;;
esac
mkdir -p build
exec 9>build/site.lock
flock 9
ensure_mkdocs || exit
flock -u 9
export NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1
if [[ ${1:-} == --serve ]]; then
  exec "$environment/bin/mkdocs" serve --strict
fi
out=$(realpath -m -- "${1:-build/site}")
# Not with --quiet: that hides the warnings from --strict, too.
log=$(mktemp)
status=0
"$environment/bin/mkdocs" build --strict --site-dir "$out" >"$log" 2>&1 ||
  status=1
if ((status == 0)); then
  say "wrote $out/index.html"
else
  grep -v '^INFO' "$log" >&2
fi
rm -f "$log"
exit $status
