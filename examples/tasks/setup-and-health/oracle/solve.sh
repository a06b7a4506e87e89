#!/bin/bash
set -euo pipefail

step=$(cat /srv/config/step)
seq "$step" "$step" 100 > /app/multiples.txt
