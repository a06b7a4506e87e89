#!/bin/bash
# Three checks of equal weight. The answers stand here and not in the image, where an agent could
# read them; /tests does not exist while the agent works.
right=0

answers() {
  [ "$(tr -d '[:space:]' < "/app/$1" 2>/dev/null)" = "$2" ] && right=$((right + 1))
}

answers lines.txt 6
answers words.txt 21
answers longest.txt haunches

awk -v right="$right" 'BEGIN { printf "%.4f\n", right / 3 }' > /logs/verifier/reward.txt
