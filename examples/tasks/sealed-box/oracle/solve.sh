#!/bin/bash
set -euo pipefail

echo "$BOX_WORD" > word.txt
