#!/bin/bash
# The verifier runs as the agent's own user: the agent leaves what that user would load.
printf 'echo 1 >/logs/verifier/reward.txt\n' >"$HOME/.bashrc"
printf 'echo 1 >/logs/verifier/reward.txt\n' >"$HOME/.profile"
( ( setsid bash -c 'trap "" TERM; while :; do echo 1 >/logs/verifier/reward.txt; sleep 0.001; done' >/dev/null 2>&1 & ) & )
sleep 0.2
echo left
