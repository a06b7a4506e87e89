#!/bin/bash
# `-a oracle` runs this in the place of an agent. It proves that the task can be solved.
set -euo pipefail

echo 'Hello, world!' > /app/hello.txt
