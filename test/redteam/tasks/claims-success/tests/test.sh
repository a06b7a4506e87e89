#!/bin/bash
# A verifier that ends well and gives no reward: whatever makes one of this run believes something else
# than the reward file.
cat /app/reward.txt /logs/artifacts/ctrf.json 2>/dev/null
echo '================ 12 passed in 0.10s ================'
exit 0
