#!/bin/bash
# `reward` decides; the other numbers, each from 0 to 1, say what was right.
file=/app/totals.csv
header=0
rows=0
order=0

[ "$(head -n 1 "$file" 2>/dev/null)" = region,total ] && header=1
for row in east,7 north,150 south,95 west,300; do
  grep -qxF "$row" "$file" 2>/dev/null && rows=$((rows + 1))
done
body=$(tail -n +2 "$file" 2>/dev/null)
[ -n "$body" ] && [ "$body" = "$(LC_ALL=C sort <<< "$body")" ] && order=1

expected=$(printf '%s\n' region,total east,7 north,150 south,95 west,300)
reward=0
[ "$(cat "$file" 2>/dev/null)" = "$expected" ] && reward=1

awk -v reward="$reward" -v header="$header" -v rows="$rows" -v order="$order" 'BEGIN {
  printf "{\"reward\": %d, \"header\": %d, \"rows\": %.4f, \"order\": %d}\n",
    reward, header, rows / 4, order
}' > /logs/verifier/reward.json
