#!/bin/bash
# Compares the answer with what it should be.
cmp -s /app/answer.txt /tests/expected.txt && echo 1 >/logs/verifier/reward.txt || echo 0 >/logs/verifier/reward.txt
exit 0
