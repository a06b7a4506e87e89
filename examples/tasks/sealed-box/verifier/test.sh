#!/bin/bash
# The verifier asks the hash, and takes it from here: the agent could have changed its own copy.
sealed=1a4620b9b4790cd3182466af7d10adb92ba9bea493be38d6450be11b4ad5094d
word=$(tr -d '[:space:]' < /vault/word.txt 2>/dev/null)
found=$(printf %s "$word" | sha256sum)

if [ -n "$word" ] && [ "${found%% *}" = "$sealed" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
