import type { BpfInstruction } from "./encode-filter.ts";
import { type CallTable, JUDGED_CALLS, NEWEST_CALL, refusedCalls } from "./refused-calls.ts";

/** Architectures that have a filter; on another one a sandbox says `seccomp: none`. */
export type SeccompArch = "x64" | "arm64";

const AUDIT_ARCH = { x64: 0xc000003e, x86: 0x40000003, arm64: 0xc00000b7 } as const;
/** Offsets in struct seccomp_data (linux/seccomp.h); arguments are little-endian 64-bit words. */
const NUMBER_OFFSET = 0;
const ARCH_OFFSET = 4;
const FIRST_ARGUMENT_OFFSET = 16;

const ALLOW = 0x7fff0000;
const NOT_PERMITTED = 0x00050000 + 1;
/** ENOSYS, so that programs fall back to an older call instead of failing. */
const NOT_IMPLEMENTED = 0x00050000 + 38;

/** CLONE_NEW* without CLONE_NEWTIME, as in Docker's profile. */
const NAMESPACE_FLAGS = 0x7e020000;
/** AF_ALG and AF_VSOCK: the kernel's crypto interface, and sockets to the host of a virtual machine. */
const REFUSED_FAMILIES = [38, 40];
const ALLOWED_PERSONALITIES = [0, 8, 0x20000, 0x20008, 0xffffffff];

/** The filter for programs of this architecture and, on x86_64, of its 32-bit sister. */
export function filterFor(arch: SeccompArch): BpfInstruction[] {
  const native = callSection(arch);
  const legacy = arch === "x64" ? callSection("x86") : [];
  return [
    load(ARCH_OFFSET),
    ...unlessEqual(AUDIT_ARCH[arch], native),
    ...(arch === "x64" ? unlessEqual(AUDIT_ARCH.x86, legacy) : []),
    answer(NOT_IMPLEMENTED),
  ];
}

/** Judges a call of one table; every path through it ends in an answer. */
function callSection(table: CallTable): BpfInstruction[] {
  const { clone, clone3, socket, personality } = JUDGED_CALLS[table];
  const refused = [...refusedCalls(table).values()].toSorted((a, b) => a - b);
  return [
    load(NUMBER_OFFSET),
    // x32 calls, which have bit 30 set, end here too: their numbers would slip past the list.
    ...answerIf(AT_LEAST, NEWEST_CALL + 1, NOT_IMPLEMENTED),
    ...answerIf(EQUAL, clone3, NOT_IMPLEMENTED),
    ...unlessEqual(clone, [
      load(FIRST_ARGUMENT_OFFSET),
      ...answerIf(ANY_BIT, NAMESPACE_FLAGS, NOT_PERMITTED),
      answer(ALLOW),
    ]),
    ...unlessEqual(socket, [
      load(FIRST_ARGUMENT_OFFSET),
      ...REFUSED_FAMILIES.flatMap((family) => answerIf(EQUAL, family, NOT_PERMITTED)),
      answer(ALLOW),
    ]),
    ...unlessEqual(personality, [
      load(FIRST_ARGUMENT_OFFSET),
      ...ALLOWED_PERSONALITIES.flatMap((persona) => answerIf(EQUAL, persona, ALLOW)),
      answer(NOT_PERMITTED),
    ]),
    ...refused.flatMap((number) => answerIf(EQUAL, number, NOT_PERMITTED)),
    answer(ALLOW),
  ];
}

const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;

function load(offset: number): BpfInstruction {
  return { code: 0x20, jumpTrue: 0, jumpFalse: 0, value: offset };
}

function answer(value: number): BpfInstruction {
  return { code: 0x06, jumpTrue: 0, jumpFalse: 0, value };
}

function answerIf(code: number, value: number, verdict: number): BpfInstruction[] {
  return [{ code, jumpTrue: 0, jumpFalse: 1, value }, answer(verdict)];
}

/** Runs the section, which must end in an answer, when the loaded word has this value. */
function unlessEqual(value: number, section: readonly BpfInstruction[]): BpfInstruction[] {
  return [
    { code: EQUAL, jumpTrue: 1, jumpFalse: 0, value },
    // A conditional jump reaches 255 instructions, this one any number.
    { code: 0x05, jumpTrue: 0, jumpFalse: 0, value: section.length },
    ...section,
  ];
}
