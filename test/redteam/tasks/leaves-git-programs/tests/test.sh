#!/bin/bash
# Asks git for the state of the workspace, as tests do that look at what changed.
echo 0 >/logs/verifier/reward.txt
command -v git >/dev/null || exit 0
export GIT_OPTIONAL_LOCKS=1
git -C /app status --short
git -C /app rev-parse --git-dir
exit 0
