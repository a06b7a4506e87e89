#!/bin/bash
# Writes to the kernel's switches: sysrq, core pattern, cgroups, the clock of the out-of-memory
# killer.
# Says of each attempt whether it went through. The test wants no line with "went through".
try() { # what, command...
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then echo "$what: went through"; else echo "$what: blocked"; fi
}
try "sysrq" bash -c 'echo h >/proc/sysrq-trigger'
try "core pattern" bash -c 'echo "|/app/evil" >/proc/sys/kernel/core_pattern'
try "uevent helper" bash -c 'echo /app/evil >/sys/kernel/uevent_helper'
try "modprobe path" bash -c 'echo /app/evil >/proc/sys/kernel/modprobe'
try "oom score" bash -c 'echo -1000 >/proc/self/oom_score_adj'
try "release agent" bash -c 'for f in $(find /sys/fs/cgroup -name release_agent 2>/dev/null); do echo /app/evil >$f && exit 0; done; exit 1'
try "cgroup escape" bash -c 'for f in $(find /sys/fs/cgroup -name cgroup.procs 2>/dev/null); do echo $$ >$f && exit 0; done; exit 1'
try "memory limit" bash -c 'for f in $(find /sys/fs/cgroup -name memory.max -o -name memory.limit_in_bytes 2>/dev/null); do echo 99999999999 >$f && exit 0; done; exit 1'
try "kernel memory" head -c 1 /dev/mem
try "kernel symbols" bash -c 'grep -vq "^0000000000000000" /proc/kallsyms'
