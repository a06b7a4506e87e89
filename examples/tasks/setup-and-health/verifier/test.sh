#!/bin/bash
# EXPECTED_COUNT comes from verifier.env in task.md.
file=/app/multiples.txt
reward=0
if [ "$(cat "$file" 2>/dev/null)" = "$(seq 7 7 100)" ] &&
  [ "$(wc -l < "$file")" -eq "$EXPECTED_COUNT" ]; then
  reward=1
fi
echo "$reward" > /logs/verifier/reward.txt
