#!/bin/bash
# Runs the project's own target from the Makefile that the image came with.
echo 0 >/logs/verifier/reward.txt
command -v make >/dev/null && make -C /app -f Makefile check
exit 0
