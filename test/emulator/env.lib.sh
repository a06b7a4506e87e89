# Sourced by the other scripts: where things lie.
kit="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
name=emulator
. "$kit/../setup/setup.lib.sh"
cache="${XDG_CACHE_HOME:-${HOME:?}/.cache}/benchflow-cloud"
state="${BENCH_TEST_EMULATOR_DIR:-$cache/test-emulator}"
port="${BENCH_TEST_EMULATOR_PORT:-4566}"
mkdir -p "$state"

alive() { runs "$state/ministack"; }
need_venv() {
  python3 -c 'import ensurepip' >/dev/null 2>&1 && return 0
  is_debian_root ||
    refuse "the emulator needs Python 3.11 or newer with venv" "run \`sudo apt-get install -y python3-venv\`, then this again"
  install_packages "$state/apt.log" python3-venv
}
