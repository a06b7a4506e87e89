import { readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { BenchError, messageOf } from "../../core/errors.ts";
import type { Login, LoginService } from "../../core/logins/login.ts";
import type { LoginStore } from "../../core/ports/login-store.ts";
import { codeOf } from "../../host/error-code.ts";
import { identifyProcess } from "../../host/process-identity.ts";
import { uniqueName } from "../agents/owned-file.ts";
import { Lease } from "../files/lease.ts";

const MAX_BYTES = 1024 * 1024;
const POLL_MS = 100;
/** A refresh takes seconds; who waits longer than this waits for a dead one that nobody can see. */
const LOCK_LIMIT_MS = 90_000;
/** How long one is left alone whose process cannot be looked up from here. */
const LEASE_MS = 60_000;

/** A login's file, which the program that made it reads and writes too. No error holds a part of it. */
export class LoginFile implements LoginStore {
  readonly #path: string;
  readonly #service: LoginService;

  constructor(path: string, service: LoginService) {
    this.#path = path;
    this.#service = service;
  }

  async read(): Promise<Login | null> {
    const text = await this.#text();
    return text === null ? null : this.#parse(text);
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const lease = await this.#take();
    try {
      return await work();
    } finally {
      await lease.release();
    }
  }

  async replace(before: Login, next: Login): Promise<boolean> {
    const text = await this.#text();
    if (text === null) return false;
    const now = this.#parse(text);
    if (now?.refreshToken !== before.refreshToken) return false;
    const path = await realpath(this.#path);
    const { mode } = await stat(path);
    const part = `${path}.${uniqueName()}.part`;
    try {
      const updated = this.#service.update(text, next, new Date());
      // Nobody else's to read, whatever the old file was.
      await writeFile(part, updated, { mode: mode & 0o600, flag: "wx" });
      await rename(part, path);
    } catch (cause) {
      await rm(part, { force: true });
      throw this.#failure("cannot be written", cause);
    }
    return true;
  }

  /** A lease beside the file: of one that was killed exactly one of those who wait takes it over. */
  async #take(): Promise<Lease> {
    const untilMs = performance.now() + LOCK_LIMIT_MS;
    const folder = `${basename(this.#path)}.bench-lock`;
    const options = { leaseMs: LEASE_MS, owner: identifyProcess() };
    for (;;) {
      const taken = await Lease.tryTake(dirname(this.#path), options, {
        folder,
        lockFile: null,
      }).catch((cause: unknown) => {
        throw this.#failure("cannot be locked", cause);
      });
      if (taken instanceof Lease) return taken;
      if (performance.now() > untilMs)
        throw this.#failure("is locked by another bench", new Error(`remove ${folder}`));
      await delay(POLL_MS);
    }
  }

  async #text(): Promise<string | null> {
    try {
      // A link may lead to it, as from a folder of settings that is kept elsewhere.
      const { size } = await stat(this.#path);
      if (size > MAX_BYTES) throw new Error(`it is larger than ${String(MAX_BYTES)} bytes`);
      return await readFile(this.#path, "utf8");
    } catch (cause) {
      if (codeOf(cause) === "ENOENT" || codeOf(cause) === "ENOTDIR") return null;
      throw this.#failure("cannot be read", cause);
    }
  }

  #parse(text: string): Login | null {
    try {
      return this.#service.parse(text);
    } catch {
      // What the parser says may hold a part of a token.
      throw new BenchError("config", `${this.#path} is no file of a ${this.#service.name} login`, {
        next: `log in again with \`${this.#service.logIn}\``,
      });
    }
  }

  #failure(what: string, cause: unknown): BenchError {
    const why = codeOf(cause) || messageOf(cause);
    return new BenchError("unavailable", `${this.#path} ${what} (${why})`, {
      next: `make it readable and writable for you alone, or log in again with \`${this.#service.logIn}\``,
    });
  }
}
