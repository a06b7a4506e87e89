import { expect, test } from "vitest";
import { HeldTime } from "../../../runner/proxy/held-time.ts";

test("overlapping waits count once, gaps not at all, and what is still held up to now", async () => {
  let nowMs = 100;
  const held = new HeldTime(() => nowMs);
  const open: (() => void)[] = [];
  const wait = (): Promise<{ heldMs: number }> =>
    held.during(() => new Promise<void>((resolve) => open.push(resolve)));
  const first = wait();
  nowMs = 110;
  const second = wait();
  nowMs = 125;
  expect(held.totalMs).toBe(25);
  open[0]?.();
  expect((await first).heldMs).toBe(25);
  nowMs = 130;
  open[1]?.();
  expect((await second).heldMs).toBe(20);
  expect(held.totalMs).toBe(30);
  nowMs = 1000;
  expect(held.totalMs).toBe(30);
  await expect(
    held.during(async () => {
      nowMs = 1005;
      throw new Error("refused");
    }),
  ).rejects.toThrow("refused");
  expect(held.totalMs).toBe(35);
});
