import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { boxProgram } from "./box-program.ts";

/** Where a task's containers see the kit (read-only for the task's image) and the folder of the socket. */
export const KIT_DIR = "/.bench/kit";
export const SOCKET_DIR = "/.bench/run";
const SOCKET = "execd.sock";

/**
 * Puts what runs in the task's container onto the shared volume: the static first program, execd, and this
 * very Node.js with the libraries and the loader that it uses, so that nothing is asked of the image. Linux
 * and glibc, as the runner's image has them.
 */
export function writeKit(dir: string, execd: Uint8Array): void {
  mkdirSync(join(dir, "lib"), { recursive: true, mode: 0o755 });
  writeFileSync(join(dir, "box"), boxProgram());
  chmodSync(join(dir, "box"), 0o755);
  writeFileSync(join(dir, "execd.mjs"), execd);
  copyFileSync("/proc/self/exe", join(dir, "node"));
  chmodSync(join(dir, "node"), 0o755);
  for (const library of loadedLibraries())
    copyFileSync(library, join(dir, "lib", basename(library)));
}

/** The command line that the task's container starts with, wherever the two folders are mounted. */
export function entryPointOf(kitDir: string, socketDir: string): string[] {
  const lib = join(kitDir, "lib");
  return [
    join(kitDir, "box"),
    "init",
    join(lib, loaderName()),
    "--library-path",
    lib,
    join(kitDir, "node"),
    join(kitDir, "execd.mjs"),
    join(kitDir, "box"),
    socketPathOf(socketDir),
    join(socketDir, "pipes"),
  ];
}

export function socketPathOf(socketDir: string): string {
  return join(socketDir, SOCKET);
}

/** Of linux/amd64, as the System V ABI for it names it. */
function loaderName(): string {
  return "ld-linux-x86-64.so.2";
}

/** The files that the kernel has mapped into this process as libraries, its loader among them. */
function loadedLibraries(): string[] {
  const lines = readFileSync("/proc/self/maps", "utf8").split("\n");
  const paths = lines.map((line) => line.slice(line.indexOf("/")).trim());
  return [...new Set(paths)].filter((path) => /^\/.*\.so(?:\.\d+)*$/u.test(path));
}
