import { type Completed, type Sandbox, SandboxError } from "../../../core/ports/sandbox.ts";
import type { Variables } from "../../../core/tasks/dockerfile/expand-word.ts";
import { DEFAULT_PATH } from "../../../core/tasks/dockerfile/stage-scope.ts";

export interface BuildCommand {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly env?: Variables;
  readonly uid?: number;
  readonly gid?: number;
}

/** A user of the image that is being built. */
export interface BuildUser {
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

const MAX_OUTPUT_BYTES = 64 * 1024;

/** Commands inside a sandbox that is becoming an image. */
export class BuildShell {
  readonly sandbox: Sandbox;
  readonly #signal: AbortSignal;
  readonly #onLine: (line: string) => void;

  constructor(sandbox: Sandbox, signal: AbortSignal, onLine: (line: string) => void) {
    this.sandbox = sandbox;
    this.#signal = signal;
    this.#onLine = onLine;
  }

  /** Runs a step, its output as lines for the trial's log. */
  async run(command: BuildCommand): Promise<Completed> {
    const lines = new LineSplitter(this.#onLine);
    const { uid = 0, gid = uid } = command;
    const done = await this.sandbox.exec({
      // The port's commands have the uid's number as their group; another one is set inside.
      argv:
        gid === uid
          ? command.argv
          : [
              "setpriv",
              `--reuid=${String(uid)}`,
              `--regid=${String(gid)}`,
              "--clear-groups",
              ...command.argv,
            ],
      uid: gid === uid ? uid : 0,
      cwd: command.cwd ?? "/",
      env: command.env ?? { PATH: DEFAULT_PATH },
      maxOutputBytes: MAX_OUTPUT_BYTES,
      onOutput: (stream, chunk) => {
        lines.push(stream, chunk);
      },
      signal: this.#signal,
    });
    lines.end();
    return done;
  }

  /** Asks the sandbox something as root, in silence; stdout without its last newline, null when it fails. */
  async ask(script: string, ...args: readonly string[]): Promise<string | null> {
    const done = await this.sandbox.exec({
      argv: ["/bin/sh", "-c", script, "sh", ...args],
      uid: 0,
      cwd: "/",
      env: { PATH: DEFAULT_PATH },
      signal: this.#signal,
    });
    if (done.exitCode !== 0) return null;
    return new TextDecoder().decode(done.stdout).replace(/\n$/u, "");
  }

  /**
   * The user of a `USER` or `--chown` value: names and numbers, with or without a group. Throws
   * `build-failed` for a name that the image's account files do not have.
   */
  async findUser(value: string, line: number): Promise<BuildUser> {
    const [user = "", group = ""] = value.split(":");
    const passwd = await this.#accounts("/etc/passwd");
    const name = user === "" ? "0" : user;
    const account = passwd.find((fields) => fields[0] === name || fields[2] === name);
    const uid = numberOf(name) ?? numberOf(account?.[2]);
    if (uid === null)
      throw new SandboxError(
        "build-failed",
        `Dockerfile:${String(line)}: no user ${JSON.stringify(user)} in the image`,
      );
    const ownGroup = numberOf(account?.[3]) ?? (numberOf(name) === null ? 0 : uid);
    const gid = group === "" ? ownGroup : await this.#findGroup(group, line);
    return { uid, gid, home: account?.[5] ?? "/" };
  }

  async #findGroup(group: string, line: number): Promise<number> {
    const known = (await this.#accounts("/etc/group")).find((fields) => fields[0] === group);
    const gid = numberOf(group) ?? numberOf(known?.[2]);
    if (gid === null)
      throw new SandboxError(
        "build-failed",
        `Dockerfile:${String(line)}: no group ${JSON.stringify(group)} in the image`,
      );
    return gid;
  }

  async #accounts(path: string): Promise<string[][]> {
    const text = (await this.ask('cat -- "$1"', path)) ?? "";
    return text.split("\n").map((row) => row.split(":"));
  }
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/u.test(text) ? Number(text) : null;
}

const MAX_LINE_LENGTH = 2000;

/** Cuts output into lines; a line without an end is cut too, so that none grows without bound. */
class LineSplitter {
  readonly #onLine: (line: string) => void;
  readonly #rest = { stdout: "", stderr: "" };
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(stream: "stdout" | "stderr", chunk: Uint8Array): void {
    const text = this.#rest[stream] + this.#decoders[stream].decode(chunk, { stream: true });
    const lines = text.split(/\r?\n|\r/u);
    this.#rest[stream] = lines.pop() ?? "";
    for (const line of lines) this.#onLine(line);
    if (this.#rest[stream].length <= MAX_LINE_LENGTH) return;
    this.#onLine(this.#rest[stream]);
    this.#rest[stream] = "";
  }

  end(): void {
    for (const stream of ["stdout", "stderr"] as const)
      if (this.#rest[stream] !== "") this.#onLine(this.#rest[stream]);
  }
}
