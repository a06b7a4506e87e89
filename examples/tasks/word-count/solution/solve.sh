#!/bin/bash
set -euo pipefail
cd /app

grep -c . poem.txt > lines.txt
wc -w < poem.txt > words.txt
tr -cs 'A-Za-z' '\n' < poem.txt | tr 'A-Z' 'a-z' |
  awk 'length > length(longest) { longest = $0 } END { print longest }' > longest.txt
