#!/bin/bash
# Besides the reward, a test report in the Common Test Report Format: results show its first failing
# test, so that a reader sees why a trial failed without opening the logs.
file=/app/errors.txt
wanted=$(printf '%s\n' 'db 3' 'mail 1' 'web 1')
got=$(cat "$file" 2>/dev/null)
started=$(date +%s%3N)
tests=()
failed=0

report() { # name, passed (0 is yes), message
  local status=passed
  if [ "$2" -ne 0 ]; then
    status=failed
    failed=$((failed + 1))
  fi
  tests+=("{\"name\": \"$1\", \"status\": \"$status\", \"duration\": 0, \"message\": \"$3\"}")
}

[ "$(LC_ALL=C sort <<< "$got")" = "$(LC_ALL=C sort <<< "$wanted")" ]
report counts $? 'the services and their counts are not those of the log'
[ "$got" = "$wanted" ]
report order $? 'the lines are not in the order that was asked for'

cat > /logs/verifier/ctrf.json <<JSON
{
  "results": {
    "tool": {"name": "check.sh"},
    "summary": {
      "tests": 2, "passed": $((2 - failed)), "failed": $failed, "pending": 0, "skipped": 0,
      "other": 0, "start": $started, "stop": $(date +%s%3N)
    },
    "tests": [$(IFS=,; echo "${tests[*]}")]
  }
}
JSON

if [ "$failed" -eq 0 ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
