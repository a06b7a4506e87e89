#!/usr/bin/env bash
# Prints the Python that has scipy and statsmodels, in a venv below the cache; `up` installs it first.
# Without it fails with one line of why. Idempotent.
set -euo pipefail
name=statistics
kit="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
. "$kit/../setup.lib.sh"
cache="${XDG_CACHE_HOME:-${HOME:?}/.cache}/benchflow-cloud"
venv="$cache/test-statistics" want="$(cksum <"$kit/requirements.txt")"
ready() { [ "$(cat "$venv/.requirements" 2>/dev/null)" = "$want" ]; }
if [ "${1:-}" = up ]; then
  mkdir -p "$cache"
  exec 9>"$cache/test-statistics.lock"
  flock 9
  if ! ready; then
    python3 -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 ||
      refuse "no Python 3.11 with venv here" "run \`sudo apt-get install -y python3-venv\`, then this again"
    say "installing scipy and statsmodels"
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$kit/requirements.txt" >&2
    echo "$want" >"$venv/.requirements"
  fi
fi
ready || refuse "scipy and statsmodels are not installed" "bash test/setup/statistics/venv.sh up"
echo "$venv/bin/python"
