#!/bin/bash
set -euo pipefail
cd /app

{
  echo region,total
  awk -F, -v currency="$REPORT_CURRENCY" \
    'NR > 1 && $3 == currency { sum[$1] += $2 } END { for (r in sum) print r "," sum[r] }' \
    sales.csv | LC_ALL=C sort
} > totals.csv
