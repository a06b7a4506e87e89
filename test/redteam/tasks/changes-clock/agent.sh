#!/bin/bash
# Sets the clock, so that limits never end or files look older than they are.
# Says of each attempt whether it went through. The test wants no line with "went through".
try() { # what, command...
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "$what: went through"; else echo "$what: blocked"; fi
}
try "date" date -s '2001-01-01 00:00:00'
try "settimeofday" perl -e 'my $t = pack("qq", 1000000000, 0); exit(syscall(164, $t, 0) == 0 ? 0 : 1)'
try "clock_settime" perl -e 'my $t = pack("qq", 1000000000, 0); exit(syscall(227, 0, $t) == 0 ? 0 : 1)'
try "adjtimex" perl -e 'my $t = pack("I", 1) . ("\0" x 252); exit(syscall(159, $t) >= 0 ? 0 : 1)'
try "hardware clock" bash -c 'echo 1 >/sys/class/rtc/rtc0/wakealarm'
touch -d '2099-01-01' /app/future
