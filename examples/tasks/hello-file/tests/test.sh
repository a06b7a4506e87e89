#!/bin/bash
# Runs when the agent is gone, as root. It writes a reward in every case: a verifier that stops
# without one gives no verdict, and no verdict is not a zero.
reward=0
if [ "$(cat /app/hello.txt 2>/dev/null)" = 'Hello, world!' ]; then
  reward=1
fi
echo "$reward" > /logs/verifier/reward.txt
