# Sourced by the set-up scripts of test/. `name` says who speaks.

say() { echo "$name: $*" >&2; }
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
is_alive() { [ "$(identity "${1%%.*}" || true)" = "$1" ]; }
# Whether the process whose identity stands in that file lives.
runs() { [ -s "$1" ] && is_alive "$(cat "$1")"; }

is_debian_root() { [ "$(id -u)" = 0 ] && [ -e /etc/debian_version ]; }
# Installs Debian packages; `log`, the first argument, tells why it could not.
install_packages() {
  local log="$1"
  shift
  say "installing $*"
  install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1; }
  install "$@" || { apt-get update >>"$log" 2>&1 && install "$@"; } ||
    refuse "apt-get could not install $*: $(tail -1 "$log")" "read $log"
}

# The Engine API at DOCKER_HOST: there may be no client program. `find_engine` is true where it can be asked.
find_engine() {
  case "${DOCKER_HOST:-}" in
    unix://*) api=(--unix-socket "${DOCKER_HOST#unix://}") base=http://localhost ;;
    tcp://*) api=() base="http://${DOCKER_HOST#tcp://}" ;;
    *) return 1 ;;
  esac
}
call() { curl -sS --fail-with-body "${api[@]}" "$@"; }
has() { call -o /dev/null "$base/images/$1/json" 2>/dev/null; }
