import { BenchError } from "../../core/errors.ts";
import type { Login, LoginService } from "../../core/logins/login.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { LoginStore } from "../../core/ports/login-store.ts";
import type { Credential } from "../proxy/http-upstream.ts";
import { askRefresh, type RefreshAnswer } from "./ask-refresh.ts";

/** Renewed so long before its end, since a call that begins in time must not meet the end. */
const MARGIN_MS = 5 * 60_000;

export interface LoginSessionOptions {
  readonly service: LoginService;
  /** Null for a token of a variable, which nobody renews. */
  readonly store: LoginStore | null;
  readonly clock: Clock;
  /** Asks the provider for new tokens; over HTTP unless it is given. */
  readonly ask?: (service: LoginService, login: Login, now: Date) => Promise<RefreshAnswer>;
}

/**
 * A subscription's login in the hands of a run: all its trials use one, and however many find it at its
 * end, it is renewed once. A refresh token is worth one use, so that the new ones go into the login's
 * own file at once, and tokens that another program put there meanwhile are taken instead. Nothing of
 * it is ever given to a sandbox.
 */
export class LoginSession {
  readonly service: LoginService;
  readonly #options: LoginSessionOptions;
  readonly #secrets: string[] = [];
  #login: Login;
  /** A refresh token that the provider refused: it is not asked again with the same one. */
  #refused: string | null = null;
  #renewing: Promise<void> | null = null;

  constructor(login: Login, options: LoginSessionOptions) {
    this.service = options.service;
    this.#options = options;
    this.#login = login;
    this.#learn(login);
  }

  /** Every token so far, for records that must not hold one; grows, and is never replaced. */
  get secrets(): readonly string[] {
    return this.#secrets;
  }

  /** Throws `BenchError`: `usage` for a login that has ended, `unavailable` where it could not be renewed. */
  async ready(): Promise<void> {
    if (this.#isEnding(MARGIN_MS)) await this.#renew(this.#login);
  }

  /** The headers of the next call. An access token that still holds is used where a renewal fails. */
  async credential(): Promise<Credential> {
    if (this.#isEnding(MARGIN_MS))
      await this.#renew(this.#login).catch((error: unknown) => {
        if (this.#isEnding(0)) throw error;
      });
    const also = this.service.headers(this.#login);
    return { header: "authorization", value: `Bearer ${this.#login.accessToken}`, also };
  }

  /** After the provider refused a token: true where there is another one now. */
  async replaceRefused(value: string): Promise<boolean> {
    if (value !== `Bearer ${this.#login.accessToken}`) return true;
    try {
      await this.#renew(this.#login);
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
    }
    return value !== `Bearer ${this.#login.accessToken}`;
  }

  #isEnding(marginMs: number): boolean {
    const { expiresAt } = this.#login;
    return (
      expiresAt !== null && expiresAt.getTime() - this.#options.clock.now().getTime() <= marginMs
    );
  }

  /** One renewal at a time; whoever asks meanwhile waits for that one. */
  async #renew(used: Login): Promise<void> {
    if (this.#login !== used) return;
    this.#renewing ??= this.#renewOnce(used).finally(() => {
      this.#renewing = null;
    });
    await this.#renewing;
  }

  async #renewOnce(used: Login): Promise<void> {
    const { store, clock, ask = askRefresh } = this.#options;
    if (store === null) throw this.#ended("it cannot be renewed");
    await store.alone(async () => {
      const stored = await store.read();
      if (stored !== null && stored.accessToken !== used.accessToken) {
        this.#take(stored);
        if (!this.#isEnding(MARGIN_MS)) return;
      }
      const before = this.#login;
      if (before.refreshToken === null) throw this.#ended("it cannot be renewed");
      if (before.refreshToken === this.#refused) throw this.#ended("its renewal was refused");
      const answer = await ask(this.service, before, clock.now());
      if (answer.kind === "refused") {
        this.#refused = before.refreshToken;
        throw this.#ended("its renewal was refused");
      }
      if (answer.kind === "failed")
        throw new BenchError(
          "unavailable",
          `the ${this.service.name} login could not be renewed: ${answer.why}`,
          {
            next: "run the same command again",
          },
        );
      this.#take(answer.login);
      await store.replace(before, answer.login);
    });
  }

  #take(login: Login): void {
    this.#login = login;
    this.#learn(login);
  }

  #learn({ accessToken, refreshToken }: Login): void {
    for (const token of [accessToken, refreshToken])
      if (token !== null && !this.#secrets.includes(token)) this.#secrets.push(token);
  }

  #ended(why: string): BenchError {
    const at = this.#login.expiresAt;
    const end = at === null ? "" : ` ended at ${at.toISOString()}`;
    return new BenchError("usage", `the ${this.service.name} login${end}: ${why}`, {
      next: `log in again with \`${this.service.logIn}\``,
    });
  }
}
