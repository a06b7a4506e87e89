import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TurnLimits } from "../../../core/acp/turn-limits.ts";

const START = { nowMs: 1000, heldMs: 0 };

function limits(wallMs: number, idleMs: number): TurnLimits {
  return new TurnLimits({ wallMs, idleMs }, START);
}

describe("the limits of a turn", () => {
  test("the wall clock ends it whatever the agent does", () => {
    const turn = limits(5000, 1000);
    turn.noteActivity({ nowMs: 5999, heldMs: 0 });
    expect(turn.reached({ nowMs: 5999, heldMs: 0 }, true)).toBeNull();
    expect(turn.reached({ nowMs: 6000, heldMs: 0 }, true)).toBe("wall-clock");
  });

  test("silence ends it at the idle limit, and a sign of life starts that anew", () => {
    const turn = limits(60_000, 1000);
    expect(turn.reached({ nowMs: 1999, heldMs: 0 }, false)).toBeNull();
    expect(turn.reached({ nowMs: 2000, heldMs: 0 }, false)).toBe("idle");
    turn.noteActivity({ nowMs: 2000, heldMs: 0 });
    expect(turn.reached({ nowMs: 2999, heldMs: 0 }, false)).toBeNull();
  });

  test("a tool that runs is a sign of life, for three idle limits and no longer", () => {
    const turn = limits(60_000, 1000);
    expect(turn.reached({ nowMs: 3999, heldMs: 0 }, true)).toBeNull();
    expect(turn.reached({ nowMs: 4000, heldMs: 0 }, true)).toBe("idle");
  });

  test("an idle limit of 0 is none", () => {
    expect(limits(60_000, 0).reached({ nowMs: 60_999, heldMs: 0 }, false)).toBeNull();
  });

  test("time for which requests were held back counts for neither limit", () => {
    const turn = limits(5000, 1000);
    expect(turn.reached({ nowMs: 2500, heldMs: 600 }, false)).toBeNull();
    expect(turn.reached({ nowMs: 2600, heldMs: 600 }, false)).toBe("idle");
    turn.noteActivity({ nowMs: 6500, heldMs: 600 });
    expect(turn.reached({ nowMs: 6599, heldMs: 600 }, false)).toBeNull();
    expect(turn.reached({ nowMs: 6600, heldMs: 600 }, false)).toBe("wall-clock");
  });

  test("however it is held and active, the turn ends after its own wall time and not before", () => {
    const step = fc.record({
      ms: fc.integer({ min: 1, max: 500 }),
      held: fc.boolean(),
      active: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const turn = limits(3000, 0);
        let { nowMs, heldMs } = START;
        for (const { ms, held, active } of steps) {
          nowMs += ms;
          if (held) heldMs += ms;
          if (active) turn.noteActivity({ nowMs, heldMs });
          const isOver = nowMs - START.nowMs - heldMs >= 3000;
          expect(turn.reached({ nowMs, heldMs }, false)).toBe(isOver ? "wall-clock" : null);
        }
      }),
    );
  });
});
