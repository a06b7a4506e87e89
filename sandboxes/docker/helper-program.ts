import { createHash } from "node:crypto";
import { RELAY_CODE } from "./relay-code.ts";

/**
 * Programs that helper containers run: machine code, because they do what images must not, and can
 * depend on nothing. No shell, no library and no file of a task's image is trusted with it, and no
 * registry may be at hand. Their source and the commands that give these bytes are in
 * docs/decisions/2026-11-30-docker-helper-programs.md.
 */
interface Machine {
  readonly elfMachine: number;
  /**
   * Opens a netlink socket, sends the messages that follow the code, reads an answer to each, ends
   * with 1 when the kernel refuses one (an error is fine when the rule is there already, or when the
   * message's sequence number marks it as one that may fail), writes "ok\n", and, when the word
   * behind the last message is not 0, holds on until its stdin ends.
   */
  readonly guard: readonly string[];
  /** kill(-1, SIGKILL), write(1, "ok\n", 3), exit(0). */
  readonly kill: string;
  /**
   * Reads requests from stdin, each a length and that many bytes: the path of a network namespace in
   * 32 bytes, netlink messages, a length of 0. Enters the namespace, sends the messages as the guard
   * does, answers "ok\n". Ends with 1 when anything is refused, the namespace that it started in among
   * it: that is the host's. Ends with 0 when stdin does.
   */
  readonly keeper: readonly string[];
  /**
   * Writes /etc/resolv.conf and a NUL to stdout, reads one byte from stdin, and becomes the command that
   * its arguments are. Ends with 127 when stdin ends before, or there is no such command.
   */
  readonly gate: readonly string[];
}

const MACHINES: Readonly<Record<string, Machine>> = {
  "linux/amd64": {
    elfMachine: 62,
    guard: [
      // socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)
      "bf10000000be0300000031d2b8290000000f0585c00f889200000089c3488d2d980000004881ec00",
      "100000",
      // length 0 ends; write the message, read the answer, look at nlmsgerr.error
      "8b550085d2744789df4889ee4189d4b8010000000f054439e0756789df4889e6ba0010000031c00f",
      "0583f8147c548b44241085c0740b83f8ef7406837d08007441",
      // go behind the message, padded to four bytes
      "4183c4034183e4fc4c01e5ebb2",
      // write(1, "ok\n", 3), look at the word behind the last message
      "bf01000000488d3534000000ba03000000b8010000000f05837d04007412",
      // read(0) until its end
      "31ff4889e6ba0010000031c00f0585c07fee",
      // exit(0), or exit(1) from where the kernel refused; "ok\n"
      "31ffeb05bf01000000b83c0000000f056f6b0a",
    ],
    kill: "bfffffffffbe09000000b83e0000000f05bf01000000488d3515000000ba03000000b8010000000f0531ffb83c0000000f056f6b0a",
    keeper: [
      // openat, fstat: the namespace that it starts in
      "4881ec00500000bf9cffffff488d35a6010000ba00000800b8010100000f0585c00f888601000041",
      "89c789c7488db42400400000b8050000000f0585c00f886a0100004c8bb42408400000",
      // read a request; openat its namespace, refuse the host's, setns; socket
      "4889e541bd04000000e832010000448b2c244181fd004000000f87430100004889e5e819010000bf",
      "9cffffff4889e6ba00000800b8010100000f0585c00f881f01000089c389c7488db42400400000b8",
      "050000000f0585c00f88040100004c3bb424084000000f84f600000089dfbe00000040b834010000",
      "0f0585c00f88e000000089dfb8030000000f05bf10000000be0300000031d2b8290000000f0585c0",
      "0f88bc00000089c3488d6c2420",
      // write each message, read the answer, look at nlmsgerr.error
      "8b550085d2745389df4889ee4189d4b8010000000f054439e00f859600000089df488db424004000",
      "00ba0010000031c00f0583f8147c7e8b84241040000085c0740b83f8ef7406837d080074684183c4",
      "034183e4fc4c01e5eba6",
      // close, setns back, write(1, "ok\n", 3), on to the next request
      "89dfb8030000000f054489ffbe00000040b8340100000f0585c0783fbf01000000488d3551000000",
      "ba03000000b8010000000f05e9c0feffff",
      // read to the end of what was asked for; stdin's end ends all
      "4585ed741831ff4889ee4489ea31c00f0585c07e094801c54129c5ebe3c3",
      // exit(0), or exit(1) from where something was refused; "/proc/self/ns/net", "ok\n"
      "31ffeb05bf01000000b83c0000000f052f70726f632f73656c662f6e732f6e6574006f6b0a",
    ],
    gate: [
      // open, read and write resolv.conf
      "4889e34881ec00100000488d3d81000000be00000800b8020000000f0585c0782389c74889e6ba00",
      "10000031c00f0585c07e1189c2bf010000004889e6b8010000000f05",
      // write(1, "", 1), read(0) one byte
      "bf01000000488d3552000000ba01000000b8010000000f0531ff4889e6ba0100000031c00f0583f8",
      "017517",
      // execve(argv[1], argv + 1, environment), or exit(127); "/etc/resolv.conf", 0
      "488b7b10488d7310488b0b488d54cb10b83b0000000f05bf7f000000b83c0000000f052f6574632f",
      "7265736f6c762e636f6e6600",
    ],
  },
  "linux/arm64": {
    elfMachine: 183,
    guard: [
      // socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE)
      "000280d2610080d2020080d2c81880d2010000d4c005f837f303002a14060010ff0740d1",
      // length 0 ends; write the message, read the answer, look at nlmsgerr.error
      "950240b935030034e003132ae10314aae203152a080880d2010000d41f00156b41040054e003132a",
      "e1030091020082d2e80780d2010000d41f5000716b030054e01340b9a00000341f44003160000054",
      "800a40b9a0020034",
      // go behind the message, padded to four bytes
      "b50e0011b5761e129442358be7ffff17",
      // write(1, "ok\n", 3), look at the word behind the last message
      "200080d241020010620080d2080880d2010000d4800640b900010034",
      // read(0) until its end
      "000080d2e1030091020082d2e80780d2010000d41f0000714cffff54",
      // exit(0), or exit(1) from where the kernel refused; "ok\n"
      "000080d202000014200080d2a80b80d2010000d46f6b0a00",
    ],
    kill: "00008092210180d2281080d2010000d4200080d2e1000010620080d2080880d2010000d4000080d2a80b80d2010000d46f6b0a00",
    keeper: [
      // openat, fstat: the namespace that it starts in
      "ff1740d1600c8092a10d00100201a0d2030080d2080780d2010000d4a00cf837f703002ae1134091",
      "080a80d2010000d4000cf837f60760f9",
      // read a request; openat its namespace, refuse the host's, setns; socket
      "f4030091950080524e000094f50340b9bf124071280b0054f403009149000094600c8092e1030091",
      "0201a0d2030080d2080780d2010000d4000af837f303002ae1134091080a80d2010000d46009f837",
      "e00760f91f0016eb00090054e003132a0100a8d2882180d2010000d46008f837e003132a280780d2",
      "010000d4000280d2610080d2020080d2c81880d2010000d44007f837f303002af4830091",
      // write each message, read the answer, look at nlmsgerr.error
      "950240b955030034e003132ae10314aae203152a080880d2010000d41f00156be1050054e003132a",
      "e1134091020082d2e80780d2010000d41f5000710b050054e1134091201040b9a00000341f440031",
      "60000054800a40b920040034b50e0011b5761e129442358be6ffff17",
      // close, setns back, write(1, "ok\n", 3), on to the next request
      "e003132a280780d2010000d4e003172a0100a8d2882180d2010000d4a002f837200080d241030050",
      "620080d2080880d2010000d4b1ffff17",
      // read to the end of what was asked for; stdin's end ends all
      "75010034000080d2e10314aae203152ae80780d2010000d41f000071ad0000549442208bb502004b",
      "f6ffff17c0035fd6",
      // exit(0), or exit(1) from where something was refused; "/proc/self/ns/net", "ok\n"
      "000080d202000014200080d2a80b80d2010000d42f70726f632f73656c662f6e732f6e6574006f6b",
      "0a000000",
    ],
    gate: [
      // openat, read and write resolv.conf
      "f3030091ff0740d1600c8092c10400100201a0d2030080d2080780d2010000d48001f837e1030091",
      "020082d2e80780d2010000d41f000071cd000054e203002a200080d2e1030091080880d2010000d4",
      // write(1, "", 1), read(0) one byte
      "200080d201030010220080d2080880d2010000d4000080d2e1030091220080d2e80780d2010000d4",
      "1f040071e1000054",
      // execve(argv[1], argv + 1, environment), or exit(127); "/etc/resolv.conf", 0
      "690240f961420091200040f9220c098ba81b80d2010000d4e00f80d2a80b80d2010000d42f657463",
      "2f7265736f6c762e636f6e6600000000",
    ],
  },
};

/** Platforms that have helpers; a daemon of another one gives no open internet. */
export function hasHelpers(platform: string): boolean {
  return MACHINES[platform] !== undefined;
}

const HEADER_BYTES = 120;
const LOAD_ADDRESS = 0x400000;

/** Sends netlink messages and, when it holds, stays as the owner of its network namespace. */
export function guardProgram(
  platform: string,
  messages: readonly Buffer[],
  holds: boolean,
): Buffer {
  const machine = machineOf(platform);
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(holds ? 1 : 0, 4);
  const code = Buffer.from(machine.guard.join(""), "hex");
  return executable(machine, Buffer.concat([code, ...messages, tail]));
}

/** Kills every process that its user may kill, in one call that no fork can outrun. */
export function killProgram(platform: string): Buffer {
  const machine = machineOf(platform);
  return executable(machine, Buffer.from(machine.kill, "hex"));
}

/** Does what guards do, in one network namespace after the other, for as long as someone asks. */
export function keeperProgram(platform: string): Buffer {
  const machine = machineOf(platform);
  return executable(machine, Buffer.from(machine.keeper.join(""), "hex"));
}

/** Where the gate's program lies in the container that lends it, and in those that are given it. */
export const GATE_PATH = "/.benchflow/gate";

/** What a sandbox starts as, until its network has walls. */
export function gateProgram(platform: string): Buffer {
  const machine = machineOf(platform);
  return executable(machine, Buffer.from(machine.gate.join(""), "hex"));
}

/** Longest request that the keeper's program takes. */
const MAX_REQUEST_BYTES = 16_384;
const PATH_BYTES = 32;

/** A request to the keeper: netlink messages for the network namespace of a process. */
export function keeperRequest(pid: number, messages: readonly Buffer[]): Buffer {
  const path = Buffer.alloc(PATH_BYTES);
  path.write(`/proc/${String(pid)}/ns/net`);
  const body = Buffer.concat([path, ...messages, Buffer.alloc(4)]);
  if (body.byteLength > MAX_REQUEST_BYTES)
    throw new Error(`${String(body.byteLength)} bytes of rules are too many`);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.byteLength);
  return Buffer.concat([length, body]);
}

/** Carries connections of a network namespace over its stdin and stdout (relay-program.c). */
export function relayProgram(platform: string): Buffer {
  const machine = machineOf(platform);
  const code = RELAY_CODE[platform];
  if (code === undefined) throw new Error(`no relay program for ${platform}`);
  return executable(machine, Buffer.from(code.join(""), "hex"));
}

function machineOf(platform: string): Machine {
  const machine = MACHINES[platform];
  if (machine === undefined) throw new Error(`no helper programs for ${platform}`);
  return machine;
}

/** A static ELF executable of one segment. */
function executable({ elfMachine }: Machine, body: Buffer): Buffer {
  const sizeBytes = HEADER_BYTES + body.byteLength;
  return Buffer.concat([elfHeader(elfMachine), programHeader(sizeBytes), body]);
}

/** Names a program by its content, so that each needs to be loaded into a daemon once. */
export function programDigest(program: Buffer): string {
  return createHash("sha256").update(program).digest("hex").slice(0, 16);
}

function elfHeader(elfMachine: number): Buffer {
  const header = Buffer.alloc(64);
  header.write("7f454c46020101", 0, "hex");
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(elfMachine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(LOAD_ADDRESS + HEADER_BYTES), 24);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  return header;
}

function programHeader(sizeBytes: number): Buffer {
  const header = Buffer.alloc(56);
  header.writeUInt32LE(1, 0);
  // Readable and executable.
  header.writeUInt32LE(5, 4);
  header.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 16);
  header.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 24);
  header.writeBigUInt64LE(BigInt(sizeBytes), 32);
  header.writeBigUInt64LE(BigInt(sizeBytes), 40);
  header.writeBigUInt64LE(0x10000n, 48);
  return header;
}
