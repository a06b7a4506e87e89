#!/bin/bash
# Works on after its time is up, deaf to the polite signal.
trap '' TERM HUP INT
echo started
( setsid bash -c 'trap "" TERM; sleep 8; echo late >/app/answer.txt' >/dev/null 2>&1 & )
sleep 30
echo "still here: went through"
