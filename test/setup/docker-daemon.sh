#!/usr/bin/env bash
# Gives tests a Docker daemon and base images on a machine where nothing was prepared.
#
#   docker-daemon.sh up          prints `export NAME=value` lines on stdout, all else on stderr
#   docker-daemon.sh up --keep   the same, and `down` leaves the daemon running
#   docker-daemon.sh down        ends the daemon, unless someone else uses it or asked to keep it
#   docker-daemon.sh down --now  ends it whoever uses it
#   docker-daemon.sh purge       `down --now`, then deletes its folder, images and all
#
# A daemon that answers (DOCKER_HOST, the default socket) is used as it is and never ended.
# Otherwise, as root on Debian, a private one is started: own socket, own folder, own bridge, no
# rule added to this machine's firewall. BENCH_TEST_DOCKER=private skips the search.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
name="test set-up"
. "$here/setup.lib.sh"
cache="${XDG_CACHE_HOME:-${HOME:?}/.cache}/benchflow-cloud"
# BENCH_TEST_DOCKER_NAME asks for a daemon that shares nothing with the one of another name.
state="${BENCH_TEST_DOCKER_DIR:-$cache/test-docker${BENCH_TEST_DOCKER_NAME:+-$BENCH_TEST_DOCKER_NAME}}"
# Two daemons of two folders share nothing: a bridge's name has at most 15 characters.
number="$(printf %s "$state" | cksum | cut -d' ' -f1)"
bridge="${BENCH_TEST_DOCKER_BRIDGE:-bench$((number % 1000000000))}"
socket="$state/docker.sock"
# The path of a unix socket has at most 107 bytes.
[ ${#socket} -le 100 ] || socket="/tmp/bench-test-$number.sock"
mkdir -p "$state/users"

daemon_runs() { runs "$state/daemon"; }

# Asks the Engine API itself: there may be no client program.
answers() {
  local at
  case "$1" in
    unix://*) at=(--unix-socket "${1#unix://}" http://localhost/_ping) ;;
    tcp://*) at=("http://${1#tcp://}/_ping") ;;
    *) return 1 ;;
  esac
  [ "$(curl -s -m 10 "${at[@]}" 2>/dev/null)" = OK ]
}

need_packages() {
  is_debian_root ||
    refuse "no docker daemon answers, and a private one needs root on Debian" \
      "start docker and set DOCKER_HOST, or run \`sudo apt-get install -y $*\` and then \`sudo bash $here/docker-daemon.sh up\`"
  install_packages "$state/apt.log" "$@"
}
need_program() { # program, package...
  local program="$1"
  shift
  command -v "$program" >/dev/null 2>&1 || need_packages "$@"
}

# An address of this machine whose subnet none of its interfaces is in, from where the folder's number points.
free_address() {
  local step at
  for step in $(seq 0 511); do
    at=$(((number + step) % 512))
    at="172.$((30 + at / 256)).$((at % 256))"
    ip -4 -o addr show | grep -qF " $at." || { echo "$at.1/24"; return; }
  done
  refuse "no subnet is free for the bridge of a docker daemon" "ip -4 addr show, and end what holds 172.30.0.0/15"
}

# Prints the options that name the bridge; a machine that allows none gets a daemon without network.
make_bridge() {
  if ! ip link show "$bridge" >/dev/null 2>&1; then
    # A bridge without a fixed address takes its lowest port's, which changes as containers come and go.
    ip link add name "$bridge" address "$(printf '02:42:%02x:%02x:%02x:01' $((number >> 16 & 255)) $((number >> 8 & 255)) $((number & 255)))" type bridge 2>>"$state/daemon.log" || { echo --bridge=none; return; }
  fi
  ip addr show dev "$bridge" | grep -q "inet " || ip addr add "${BENCH_TEST_DOCKER_SUBNET:-$(free_address)}" dev "$bridge"
  ip link set "$bridge" up
  echo "--bridge=$bridge"
}

start_daemon() {
  need_program dockerd docker.io iptables
  need_program ip iproute2
  need_program curl curl ca-certificates
  local pid started=$SECONDS
  rm -f "$socket" "$state/engine.pid"
  # Lock files of the caller stay with the caller: the daemon must not inherit descriptor 9.
  setsid dockerd "$(make_bridge)" --iptables=false --ip6tables=false --ip-forward=false --userland-proxy=false \
    --data-root "$state/data" --exec-root "$state/exec" -p "$state/engine.pid" -H "unix://$socket" \
    >>"$state/daemon.log" 2>&1 9>&- </dev/null &
  pid=$!
  identity "$pid" >"$state/daemon"
  until answers "unix://$socket"; do
    daemon_runs && [ $((SECONDS - started)) -lt 60 ] ||
      { tail -5 "$state/daemon.log" >&2; refuse "the private docker daemon did not start" "read $state/daemon.log"; }
    sleep 0.2
  done
  say "private docker daemon started in $((SECONDS - started)) s"
}

find_daemon() {
  local host
  [ "${BENCH_TEST_DOCKER:-auto}" != private ] || return 1
  for host in "${DOCKER_HOST:-}" unix:///var/run/docker.sock; do
    [ -n "$host" ] && [ "$host" != "unix://$socket" ] && answers "$host" && echo "$host" && return 0
  done
  return 1
}

up() {
  local host
  exec 9>"$state/lock"
  flock 9
  if host="$(find_daemon)"; then
    say "using the docker daemon at $host"
  else
    host="unix://$socket"
    # The caller is whoever ran this script: its daemon lives until it says `down`, or dies.
    identity "$PPID" >"$state/users/$PPID" || true
    [ "${1:-}" != --keep ] || touch "$state/keep"
    daemon_runs && answers "$host" || start_daemon
  fi
  DOCKER_HOST="$host" BENCH_TEST_PRIVATE="$([ "$host" != "unix://$socket" ] || echo 1)" \
    bash "$here/base-images.sh" "$cache/test-images" 9>&-
  echo "export DOCKER_HOST=$host"
  echo "export BENCH_TEST_BASE_IMAGE=bench-base:debian"
}

others_use_it() {
  local user
  [ ! -e "$state/keep" ] || return 0
  for user in "$state"/users/*; do
    [ -e "$user" ] || continue
    if is_alive "$(cat "$user")"; then return 0; fi
    rm -f "$user"
  done
  return 1
}

down() {
  local pid ids
  exec 9>"$state/lock"
  flock 9
  rm -f "$state/users/$PPID"
  if [ "${1:-}" != --now ] && others_use_it; then return 0; fi
  rm -f "$state/keep" "$state"/users/*
  if daemon_runs; then
    # Containers of a private daemon end with it.
    ids="$(curl -s -m 20 --unix-socket "$socket" 'http://localhost/containers/json?all=1' | grep -o '"Id":"[0-9a-f]*"' | cut -d'"' -f4 || true)"
    for id in $ids; do
      curl -s -m 30 -o /dev/null -X DELETE --unix-socket "$socket" "http://localhost/containers/$id?force=1&v=1" || true
    done
    pid="$(cut -d. -f1 "$state/daemon")"
    # The one that it was started with, by whichever version of this script.
    bridge="$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n 's/^--bridge=//p')"
    kill -TERM "$pid" 2>/dev/null || true
    for _ in $(seq 1 150); do daemon_runs || break; sleep 0.1; done
    if daemon_runs; then kill -KILL "$pid" 2>/dev/null || true; fi
    say "ended the private docker daemon"
  fi
  rm -f "$state/daemon" "$socket"
  [ "$bridge" = none ] || ip link del "$bridge" 2>/dev/null || true
}

purge() {
  down --now
  { grep " $state/" /proc/mounts || true; } | cut -d' ' -f2 | sort -r | while read -r mount; do umount -l "$mount" || true; done
  rm -rf "$state"
  say "deleted $state"
}

case "${1:-}" in
  up) up "${2:-}" ;;
  down) down "${2:-}" ;;
  purge) purge ;;
  *) refuse "unknown command '${1:-}'" "bash $0 up" ;;
esac
