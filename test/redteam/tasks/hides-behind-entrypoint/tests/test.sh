#!/bin/bash
# Nobody earns anything here; what counts is that the task's service works, and nothing else runs.
echo 0 >/logs/verifier/reward.txt
rm -f /run/beat
sleep 1
if [ -s /run/beat ]; then echo "service: beats"; else echo "service: dead"; fi
