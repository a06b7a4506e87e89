import { describe, expect, test } from "vitest";
import { BenchError } from "../../../core/errors.ts";
import { claudeLogin } from "../../../core/logins/claude-login.ts";
import type { Login } from "../../../core/logins/login.ts";
import type { LoginStore } from "../../../core/ports/login-store.ts";
import type { RefreshAnswer } from "../../../runner/model-access/ask-refresh.ts";
import { LoginSession } from "../../../runner/model-access/login-session.ts";
import { FakeClock } from "../../fakes/fake-clock.ts";

const MINUTE_MS = 60_000;

/** A file of tokens in memory, whose lock holds. */
class MemoryLogin implements LoginStore {
  login: Login | null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(login: Login) {
    this.login = login;
  }

  async read(): Promise<Login | null> {
    return this.login;
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => undefined);
    return await mine;
  }

  async replace(before: Login, next: Login): Promise<boolean> {
    if (this.login?.refreshToken !== before.refreshToken) return false;
    this.login = next;
    return true;
  }
}

function aScene(minutes: number | null, answers: readonly RefreshAnswer["kind"][] = []) {
  const clock = new FakeClock();
  const at = (left: number) => new Date(clock.now().getTime() + left * MINUTE_MS);
  const first: Login = {
    accessToken: "a0",
    refreshToken: "r0",
    expiresAt: minutes === null ? null : at(minutes),
    accountId: null,
    scopes: [],
  };
  const store = new MemoryLogin(first);
  const asked: string[] = [];
  let calls = 0;
  // A refresh token is worth one use, as the providers' are.
  const ask = async (_: unknown, { refreshToken }: Login): Promise<RefreshAnswer> => {
    calls += 1;
    const kind = answers[asked.length] ?? "renewed";
    if (refreshToken === null || asked.includes(refreshToken)) return { kind: "refused" };
    asked.push(refreshToken);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (kind === "refused") return { kind };
    if (kind === "failed") return { kind, why: "no network" };
    const n = String(asked.length);
    const login = { ...first, accessToken: `a${n}`, refreshToken: `r${n}`, expiresAt: at(60) };
    return { kind, login };
  };
  const open = (own: LoginStore | null = store) =>
    new LoginSession(store.login ?? first, { service: claudeLogin, store: own, clock, ask });
  return { clock, store, asked, open, first, calls: () => calls };
}

describe("a login in the hands of a run", () => {
  test("that holds is used as it is, with what the provider wants beside it", async () => {
    const { asked, open } = aScene(60);
    expect(await open().credential()).toEqual({
      header: "authorization",
      value: "Bearer a0",
      also: { "anthropic-beta": "oauth-2025-04-20" },
    });
    expect(asked).toEqual([]);
  });

  test("that ends soon is renewed once, however many trials want it, and its file has the new tokens", async () => {
    const { store, asked, open } = aScene(2);
    const session = open();
    const all = await Promise.all(Array.from({ length: 20 }, () => session.credential()));
    expect(new Set(all.map(({ value }) => value))).toEqual(new Set(["Bearer a1"]));
    expect(asked).toEqual(["r0"]);
    expect(store.login).toMatchObject({ accessToken: "a1", refreshToken: "r1" });
    expect(session.secrets).toEqual(["a0", "r0", "a1", "r1"]);
  });

  test("is renewed once by two commands at a time", async () => {
    const { asked, open } = aScene(2);
    const values = await Promise.all([open(), open(), open()].map((each) => each.credential()));
    expect(values.map(({ value }) => value)).toEqual(["Bearer a1", "Bearer a1", "Bearer a1"]);
    expect(asked).toEqual(["r0"]);
  });

  test("that another program renewed is taken from its file, and not renewed again", async () => {
    const { store, asked, open, first, clock } = aScene(2);
    const session = open();
    const expiresAt = new Date(clock.now().getTime() + 60 * MINUTE_MS);
    store.login = { ...first, accessToken: "theirs", refreshToken: "theirs-r", expiresAt };
    expect((await session.credential()).value).toBe("Bearer theirs");
    expect(asked).toEqual([]);
  });

  test("is renewed when the provider refuses its token, once for all calls that used it", async () => {
    const { asked, open } = aScene(60);
    const session = open();
    const { value } = await session.credential();
    expect(
      await Promise.all(Array.from({ length: 5 }, () => session.replaceRefused(value))),
    ).toEqual([true, true, true, true, true]);
    // A call that began before, and is refused only now.
    expect(await session.replaceRefused(value)).toBe(true);
    expect(asked).toEqual(["r0"]);
  });

  test("whose renewal is refused has ended: told with what to type, and not asked for again", async () => {
    const { open, calls } = aScene(-1, ["refused"]);
    const session = open();
    await expect(session.ready()).rejects.toMatchObject({
      kind: "usage",
      message: expect.stringMatching(/^the Claude login ended at .+: its renewal was refused$/u),
      next: "log in again with `claude /login`",
    });
    await expect(session.credential()).rejects.toThrow(BenchError);
    expect(calls()).toBe(1);
  });

  test("whose renewal fails is used to its end, then told", async () => {
    const { open } = aScene(2, ["failed"]);
    expect((await open().credential()).value).toBe("Bearer a0");
    const ended = aScene(-1, ["failed"]);
    await expect(ended.open().credential()).rejects.toMatchObject({
      kind: "unavailable",
      message: "the Claude login could not be renewed: no network",
    });
  });

  test("of a token alone is never renewed, and a refusal of it stands", async () => {
    const { open, asked } = aScene(null);
    const session = open(null);
    expect((await session.credential()).value).toBe("Bearer a0");
    expect(await session.replaceRefused("Bearer a0")).toBe(false);
    expect(asked).toEqual([]);
  });
});
