#!/usr/bin/env bash
# Starts an AWS account on this machine for tests: MiniStack (PyPI, pinned) serves the API, the shim beside
# this file replaces what our state machine and tasks need and MiniStack lacks, and the Docker daemon at
# DOCKER_HOST runs the ECS tasks for real. Prints `export NAME=value` lines on stdout, all else on stderr.
# Idempotent. No authentication and bound to every address, because containers must reach it: not for
# a network that is not trusted.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.lib.sh"
exec 9>"$state/up.lock"
flock 9

find_engine || refuse "DOCKER_HOST names no daemon" "eval \"\$(bash test/setup/docker-daemon.sh up)\", then this again"

# The container that owns a task's network when the task has several (Fargate has one too).
has bench-base:pause || call -o /dev/null -X POST -H 'Content-Type: application/x-tar' \
  "$base/build?t=bench-base:pause" --data-binary @<(
    context="$(mktemp -d)"
    printf 'FROM bench-base:busybox\nCMD ["/bin/sh","-c","trap : TERM; sleep 2147483647 & wait"]\n' >"$context/Dockerfile"
    tar -C "$context" -c .
    rm -rf "$context"
  )
has bench-base:pause || refuse "the image bench-base:pause cannot be built" "bash test/setup/docker-daemon.sh up builds bench-base:busybox"

# What the runner starts from in a real account is a public Node image; here it is this machine's Node.
if ! has bench-base:node; then
  say "building bench-base:node"
  context="$(mktemp -d "$state/node.XXXXXX")"
  cp "$(readlink -f "$(node -p process.execPath)")" "$context/node"
  printf 'FROM bench-base:debian\nCOPY node /usr/local/bin/node\nCMD ["node"]\n' >"$context/Dockerfile"
  tar -C "$context" -cf "$context.tar" .
  call -o "$state/node.log" -X POST -H 'Content-Type: application/x-tar' "$base/build?t=bench-base:node" -T "$context.tar" || true
  rm -rf "$context" "$context.tar"
  has bench-base:node || refuse "the image bench-base:node cannot be built" "read $state/node.log"
fi
gateway="$(call "$base/networks/bridge" | sed -n 's/.*"Gateway":"\([0-9.]*\)".*/\1/p')"
[ -n "$gateway" ] || gateway=172.31.250.1

venv="$state/venv" want="$(cksum <"$kit/requirements.txt")"
if [ "$(cat "$venv/.requirements" 2>/dev/null)" != "$want" ]; then
  say "installing the emulator's Python packages"
  rm -rf "$venv"
  need_venv
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r "$kit/requirements.txt" >&2
  echo "$want" >"$venv/.requirements"
fi

url="http://127.0.0.1:$port"
healthy() { curl -sf -m 2 "$url/_ministack/health" >/dev/null 2>&1; }
if ! { alive && healthy; }; then
  if healthy; then refuse "port $port is served by something else" "set BENCH_TEST_EMULATOR_PORT to a free port"; fi
  mkdir -p "$state/tmp"
  env -u AWS_ENDPOINT_URL GATEWAY_PORT="$port" BIND_HOST=0.0.0.0 IOT_MTLS_ENABLED=0 SFTP_ENABLED=0 LAMBDA_EXECUTOR=local \
    LOG_LEVEL=INFO TMPDIR="$state/tmp" HOSTNAME=bench-emulator-host SFN_WAIT_SCALE=0.05 MINISTACK_DOCKER_TIMEOUT=60 \
    MINISTACK_WORKER_THREADS=64 BENCH_CONTAINER_ENDPOINT="http://$gateway:$port" PYTHONUNBUFFERED=1 \
    setsid "$venv/bin/python" "$kit/ministack_shim.py" >"$state/ministack.log" 2>&1 9>&- </dev/null &
  identity $! >"$state/ministack"
  for _ in $(seq 1 240); do healthy && break; alive || break; sleep 0.25; done
  healthy || { tail -20 "$state/ministack.log" >&2; refuse "the emulator did not start" "read $state/ministack.log"; }
fi
say "AWS at $url, from containers http://$gateway:$port"
cat <<END
export AWS_ENDPOINT_URL=$url
export AWS_ACCESS_KEY_ID=test
export AWS_SECRET_ACCESS_KEY=test
export AWS_REGION=us-east-1
export AWS_EC2_METADATA_DISABLED=true
END
