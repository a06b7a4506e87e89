#!/bin/bash
# The bytecode must be gone, and the image's own source still there.
echo 0 >/logs/verifier/reward.txt
[ -f /app/pkg/mod.py ] || exit 1
[ -d /app/pkg/__pycache__ ] && echo 1 >/logs/verifier/reward.txt
exit 0
