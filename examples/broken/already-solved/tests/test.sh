#!/bin/bash
# The mistake: this also finds the comment that was there from the start.
reward=0
if grep -q 'debug = false' /app/settings.ini; then
  reward=1
fi
echo "$reward" > /logs/verifier/reward.txt
