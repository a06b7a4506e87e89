#!/usr/bin/env bash
# Ends what up.sh started, and nothing else: the process, and the containers and volumes of its tasks.
# The Docker daemon is not ours to end.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.lib.sh"
if alive; then
  pid="$(cut -d. -f1 "$state/ministack")"
  kill -TERM "$pid" 2>/dev/null || true
  for _ in $(seq 1 50); do alive || break; sleep 0.2; done
  if alive; then kill -KILL "$pid" 2>/dev/null || true; fi
  say "ended"
fi
rm -f "$state/ministack"
find_engine || exit 0
# Names of our own making: ecs-<task>-<container> and ecs-<task>-<volume>.
left() { curl -s -m 20 -G "${api[@]}" "$base/containers/json" --data-urlencode all=1 \
  --data-urlencode 'filters={"label":["com.amazonaws.ecs.task-arn"]}' | grep -o '"Id":"[0-9a-f]*"' | cut -d'"' -f4 || true; }
for id in $(left); do curl -s -m 30 -o /dev/null -X DELETE "${api[@]}" "$base/containers/$id?force=1&v=1" || true; done
