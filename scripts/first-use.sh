#!/bin/sh
# Installs the packages that a run needs and builds, once for several callers at a time, then runs.
root=$1
shift
refuse() {
  echo "$1" >&2
  echo "  next: $2" >&2
  exit 4
}
command -v node >/dev/null || refuse "bench needs Node.js 20.19 or newer, and there is no node on PATH" \
  "install Node.js 20, 22 or 24, then run this again"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  refuse "bench needs Node.js 20.19 or newer, this is $(node --version)" "install Node.js 20, 22 or 24, then run this again"

stamp=$root/dist/stamp
is_ready() {
  [ -f "$stamp" ] && [ "$stamp" -nt "$root/package-lock.json" ] && ! [ "$root/.git/logs/HEAD" -nt "$stamp" ]
}
install_packages() {
  [ node_modules/.package-lock.json -nt package-lock.json ] && return 0
  echo "bench: first use here, installing packages and building (about half a minute)" >&2
  npm ci --omit=dev --no-audit --no-fund --loglevel=error >&2 && touch node_modules/.package-lock.json
}
set_up() {
  cd "$root" && started=$(date +%s) && install_packages && installed=$(date +%s) &&
    node scripts/build.mjs && ended=$(date +%s) || return 1
  if [ $((ended - started)) -ge 2 ]; then
    echo "bench: installed in $((installed - started)) s, built in $((ended - installed)) s" >&2
  fi
}

# One installer at a time; the others wait for it and then find the work done.
(
  if command -v flock >/dev/null; then flock 9; fi
  is_ready || set_up
) 9>"$root/.bench-set-up.lock" ||
  refuse "bench could not set itself up in $root" "\`npm ci --omit=dev && node scripts/build.mjs\` there shows why"
exec node "$root/dist/cli/main.js" "$@"
