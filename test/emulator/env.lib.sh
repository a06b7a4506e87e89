# Sourced by the other scripts: where things lie, and how a process of ours is known.
kit="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cache="${XDG_CACHE_HOME:-${HOME:?}/.cache}/benchflow-cloud"
state="${BENCH_TEST_EMULATOR_DIR:-$cache/test-emulator}"
port="${BENCH_TEST_EMULATOR_PORT:-4566}"
mkdir -p "$state"

say() { echo "emulator: $*" >&2; }
refuse() {
  say "$1"
  echo "  next: $2" >&2
  exit 1
}
# The name of a process that no later process gets: pid and start time.
identity() {
  local fields
  fields="$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null)" || return 1
  set -- "$1" $fields
  echo "$1.${21}"
}
alive() {
  local known
  known="$(cat "$state/ministack" 2>/dev/null)" || return 1
  [ -n "$known" ] && [ "$(identity "${known%%.*}" || true)" = "$known" ]
}
need_venv() {
  python3 -c 'import ensurepip' >/dev/null 2>&1 && return 0
  [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ] ||
    refuse "the emulator needs Python 3.11 or newer with venv" "run \`sudo apt-get install -y python3-venv\`, then this again"
  say "installing python3-venv"
  install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends python3-venv >>"$state/apt.log" 2>&1; }
  install || { apt-get update >>"$state/apt.log" 2>&1 && install; } || refuse "apt-get could not install python3-venv" "read $state/apt.log"
}
