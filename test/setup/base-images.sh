#!/usr/bin/env bash
# Builds the base images that tests start from, with no image registry, and loads them into the
# daemon at DOCKER_HOST. Their archives are kept in the folder given, so that a second daemon gets
# them in seconds. Called by docker-daemon.sh.
#
#   bench-base:debian   this machine's Debian release by debootstrap, with bash, coreutils, tar, gzip,
#                       python3, ca-certificates, curl and procps
#   bench-base:busybox  one static busybox and its applets, /bin/sh among them
set -euo pipefail
name="test set-up"
. "$(dirname "${BASH_SOURCE[0]}")/setup.lib.sh"
images="$1"
mkdir -p "$images"
exec 8>"$images/lock"
flock 8

find_engine || refuse "test images cannot be loaded through ${DOCKER_HOST:-no DOCKER_HOST}" "set DOCKER_HOST to unix:// or tcp://"

need_program() { # program, package...
  local program="$1"
  shift
  command -v "$program" >/dev/null 2>&1 && return 0
  is_debian_root ||
    refuse "the test images need $program" "run \`sudo apt-get install -y $*\`, then this again"
  install_packages "$images/apt.log" "$@"
}

suite="$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")"

# The machine's own mirror and proxy come from its apt configuration; nothing of them stays in the image.
make_debian() {
  need_program debootstrap debootstrap
  say "building the Debian base image (a minute or two)"
  local root mirror
  root="$(mktemp -d "$images/root.XXXXXX")"
  trap 'rm -rf "$root"' EXIT
  mirror="$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null | awk -v s="$suite" '$2==s{print $1; exit}')"
  eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy 2>/dev/null || true)"
  export http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}"
  chmod 755 "$root"
  debootstrap --variant=minbase --include=ca-certificates,python3,procps,curl "$suite" "$root" "$mirror" >"$images/debootstrap.log" 2>&1 ||
    refuse "debootstrap failed: $(tail -1 "$images/debootstrap.log")" "read $images/debootstrap.log"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/* "$root"/dev/*
  rm -f "$root"/etc/apt/apt.conf.d/*proxy* "$root"/etc/resolv.conf "$root"/etc/hostname
  tar --numeric-owner -C "$root" -cf "$images/$1.part" .
  mv "$images/$1.part" "$images/$1"
  rm -rf "$root"
  trap - EXIT
}

# A busybox that is linked to libraries would not start in an image that has none.
static_busybox() {
  local found
  found="$(command -v busybox || true)"
  if [ -z "$found" ] || ldd "$found" >/dev/null 2>&1; then
    # Unpacked, not installed: this machine may have a busybox of its own.
    fetch() { (cd "$images" && rm -f busybox-static_*.deb && apt-get download busybox-static >>"$images/apt.log" 2>&1); }
    fetch || { apt-get update >>"$images/apt.log" 2>&1 && fetch; } ||
      refuse "apt-get could not download busybox-static: $(tail -1 "$images/apt.log")" "read $images/apt.log"
    dpkg-deb -x "$images"/busybox-static_*.deb "$images/busybox"
    found="$images/busybox/bin/busybox"
  fi
  echo "$found"
}

make_busybox() {
  local root applet busybox
  busybox="$(static_busybox)"
  root="$(mktemp -d "$images/root.XXXXXX")"
  mkdir -p "$root"/{bin,etc,tmp,root}
  chmod 755 "$root"
  chmod 1777 "$root/tmp"
  cp "$busybox" "$root/bin/busybox"
  for applet in $("$root/bin/busybox" --list); do [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"; done
  echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
  echo 'root:x:0:' >"$root/etc/group"
  tar --numeric-owner --owner=0 --group=0 -C "$root" -cf "$images/$1.part" .
  mv "$images/$1.part" "$images/$1"
  rm -rf "$root" "$images"/busybox "$images"/busybox-static_*.deb
}

load() { # archive, tag, command as JSON
  call -o /dev/null -X POST -H 'content-type: application/x-tar' -T "$images/$1" \
    "$base/images/create?fromSrc=-&repo=bench-base&tag=$2&changes=CMD%20$3&changes=ENV%20LANG%3DC.UTF-8" ||
    refuse "the daemon at $DOCKER_HOST did not take the image $images/$1" "delete $images/$1, then this again"
}

[ -s "$images/debian-$suite.tar" ] || make_debian "debian-$suite.tar"
[ -s "$images/busybox.tar" ] || make_busybox busybox.tar
has bench-base:debian || load "debian-$suite.tar" debian '%5B%22%2Fbin%2Fbash%22%5D'
has bench-base:busybox || load busybox.tar busybox '%5B%22%2Fbin%2Fsh%22%5D'

# Example tasks say FROM debian:<this release>, and that is what the image is. Only on a private
# daemon: on a person's own one such a tag would stand in for the real image.
if [ -n "${BENCH_TEST_PRIVATE:-}" ]; then
  for tag in "$suite" "$suite-slim"; do
    call -o /dev/null -X POST "$base/images/bench-base:debian/tag?repo=debian&tag=$tag"
  done
fi
