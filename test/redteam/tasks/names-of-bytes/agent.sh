#!/bin/bash
# Names files with bytes that are no text, with line feeds, escapes and climbing dots, wherever
# they are collected.
cd /logs/artifacts || exit 1
printf 1 >"$(printf 'not-utf8-\377\376')"
printf 1 >"$(printf 'line\nfeed')"
printf 1 >"$(printf 'escape-\033[2J\033]0;owned\007')"
printf 1 >'..%2f..%2fetc%2fpasswd'
printf 1 >'back\slash\..\up'
printf 1 >'con'
printf 1 >'trailing.'
printf 1 >"$(printf 'n%.0s' $(seq 1 255))"
mkdir -p "$(printf 'd/%.0s' $(seq 1 60))" && printf 1 >"$(printf 'd/%.0s' $(seq 1 60))deep"
cp -r . /app/ 2>/dev/null
echo named
