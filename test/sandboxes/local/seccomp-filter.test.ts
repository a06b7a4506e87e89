import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type BpfInstruction,
  encodeFilter,
} from "../../../sandboxes/local/seccomp/encode-filter.ts";
import {
  type CallTable,
  JUDGED_CALLS,
  NEWEST_CALL,
  refusedCalls,
} from "../../../sandboxes/local/seccomp/refused-calls.ts";
import { filterFor } from "../../../sandboxes/local/seccomp/seccomp-filter.ts";

const AUDIT_ARCH = { x64: 0xc000003e, x86: 0x40000003, arm64: 0xc00000b7, arm: 0x40000028 };
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** Runs a filter as the kernel does (linux/filter.h), on one call. */
function judge(
  filter: readonly BpfInstruction[],
  call: { arch: number; number: number; arg?: number },
): number {
  let loaded = 0;
  for (let at = 0; at < filter.length; at += 1) {
    const { code, jumpTrue, jumpFalse, value } = filter[at] ?? {
      code: 0,
      jumpTrue: 0,
      jumpFalse: 0,
      value: 0,
    };
    if (code === 0x06) return value;
    if (code === 0x20)
      loaded = { 0: call.number, 4: call.arch, 16: call.arg ?? 0 }[value] ?? Number.NaN;
    else if (code === 0x05) at += value;
    else {
      const holds = { 0x15: loaded === value, 0x35: loaded >= value, 0x45: (loaded & value) !== 0 }[
        code
      ];
      if (holds === undefined) throw new Error(`no such instruction: ${code}`);
      at += holds ? jumpTrue : jumpFalse;
    }
  }
  throw new Error("the filter ends without an answer");
}

const TABLES = [
  { table: "x64", filter: filterFor("x64") },
  { table: "x86", filter: filterFor("x64") },
  { table: "arm64", filter: filterFor("arm64") },
] as const;

describe.each(TABLES)("the filter for $table", ({ table, filter }) => {
  const arch = AUDIT_ARCH[table];
  const judged = JUDGED_CALLS[table];
  const refused = new Set(refusedCalls(table).values());

  test("refuses the listed calls, knows none that is newer, and lets all others through", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        fc.integer({ min: 0, max: 600 }),
        (wild, small) => {
          for (const number of [wild, small]) {
            if (Object.values(judged).includes(number)) continue;
            const expected = number > NEWEST_CALL ? ENOSYS : refused.has(number) ? EPERM : ALLOW;
            expect(judge(filter, { arch, number })).toBe(expected);
          }
        },
      ),
      { numRuns: 500 },
    );
    for (const number of refused) expect(judge(filter, { arch, number })).toBe(EPERM);
  });

  test("lets processes and threads be made, and no namespaces", () => {
    const { clone, clone3 } = judged;
    expect(judge(filter, { arch, number: clone, arg: 0x11 })).toBe(ALLOW);
    expect(judge(filter, { arch, number: clone, arg: 0x3d0f00 })).toBe(ALLOW);
    for (const flag of [
      0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
    ])
      expect(judge(filter, { arch, number: clone, arg: flag | 0x11 })).toBe(EPERM);
    expect(judge(filter, { arch, number: clone3 })).toBe(ENOSYS);
  });

  test("refuses sockets to the hypervisor and to the kernel's crypto, and odd personalities", () => {
    const { socket, personality } = judged;
    for (const family of [1, 2, 10, 16])
      expect(judge(filter, { arch, number: socket, arg: family })).toBe(ALLOW);
    for (const family of [38, 40])
      expect(judge(filter, { arch, number: socket, arg: family })).toBe(EPERM);
    for (const persona of [0, 8, 0x20000, 0x20008, 0xffffffff])
      expect(judge(filter, { arch, number: personality, arg: persona })).toBe(ALLOW);
    expect(judge(filter, { arch, number: personality, arg: 0x0040000 })).toBe(EPERM);
  });

  test("is no longer than the kernel takes, and encodes to eight bytes an instruction", () => {
    expect(filter.length).toBeLessThan(4096);
    expect(encodeFilter(filter).byteLength).toBe(filter.length * 8);
  });
});

test("calls of another architecture, x32 and 32-bit arm among them, are not implemented", () => {
  expect(judge(filterFor("arm64"), { arch: AUDIT_ARCH.arm, number: 1 })).toBe(ENOSYS);
  expect(judge(filterFor("x64"), { arch: AUDIT_ARCH.arm64, number: 1 })).toBe(ENOSYS);
  expect(judge(filterFor("x64"), { arch: AUDIT_ARCH.x64, number: 0x40000000 + 165 })).toBe(ENOSYS);
});

test("the calls that lead out of containers are on the list, and those that programs live on are not", () => {
  const names = new Set(refusedCalls("x64").keys());
  const ways =
    "mount umount2 pivot_root unshare setns open_by_handle_at bpf keyctl add_key userfaultfd perf_event_open init_module finit_module kexec_load reboot settimeofday clock_settime swapon syslog acct quotactl io_uring_setup fsopen move_mount open_tree";
  expect(ways.split(" ").filter((name) => !names.has(name))).toEqual([]);
  const needed = "execve fork ptrace chroot setuid capset seccomp prctl mknod socket futex";
  expect(needed.split(" ").filter((name) => names.has(name))).toEqual([]);
});

const HEADERS: Readonly<Record<CallTable, string>> = {
  x64: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
  x86: "/usr/include/x86_64-linux-gnu/asm/unistd_32.h",
  arm64: "/usr/include/aarch64-linux-gnu/asm/unistd.h",
};

test.for(Object.entries(HEADERS).filter(([, path]) => existsSync(path)))(
  "the numbers of %s are those of this machine's kernel headers",
  ([table, path]) => {
    const numbers = new Map(
      [...readFileSync(path, "utf8").matchAll(/^#define __NR_(\w+) (\d+)$/gmu)].map(
        ([, name, number]) => [name, Number(number)],
      ),
    );
    const calls = [
      ...refusedCalls(table as CallTable),
      ...Object.entries(JUDGED_CALLS[table as CallTable]),
    ];
    const known = calls.filter(([name]) => numbers.has(name));
    expect(known.length).toBeGreaterThan(50);
    for (const [name, number] of known) expect([name, numbers.get(name)]).toEqual([name, number]);
  },
);
