#!/bin/bash
set -euo pipefail
cd /app

awk '$1 == "ERROR" { errors[$2]++ } END { for (s in errors) print s, errors[s] }' service.log |
  LC_ALL=C sort -k2,2nr -k1,1 > errors.txt
