import { expect, test } from "vitest";
import { aScene, startTrials } from "./run-scene.ts";

test.for([
  [1, 1],
  [2, 0],
])(
  "with %i repeats the first one tells its backend %i times that it may rest",
  async ([trials, told]) => {
    const scene = await aScene({ plays: { alpha: {}, beta: {} } });
    const left: number[] = [];
    const rest = (): void => void left.push(2 - scene.backend.created.length);
    Object.assign(scene.backend, { rest });
    const { ended } = await startTrials(scene, { trials });
    await ended;
    expect(left).toEqual(Array.from({ length: Number(told) }, () => 0));
  },
);
