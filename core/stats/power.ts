import { normalQuantile, Z_95 } from "./normal-distribution.ts";

/** What a comparison of two settings over the same tasks varies by. */
export interface ComparisonNoise {
  /** Variance over tasks of the true difference (ω²); 1/9 where nothing is known (Miller 2024). */
  readonly taskVariance: number;
  /** Variance of one trial around its task's mean, for each side; 0 where it is known exactly. */
  readonly trialVariances: readonly [number, number];
  /** Trials a task, for each side. */
  readonly trialsPerTask: readonly [number, number];
}

/**
 * How many tasks show a difference `delta` at the two-sided 5% level with the given power:
 * `(z_.975 + z_power)² (ω² + σ²_A/K_A + σ²_B/K_B) / δ²` (Miller 2024, section 5). By the normal
 * distribution: not for fewer than some 30 tasks.
 */
export function tasksNeeded(delta: number, noise: ComparisonNoise, power = 0.8): number {
  const z = Z_95 + normalQuantile(power);
  return Math.ceil((z * z * varianceOfDifference(noise)) / (delta * delta));
}

/** The smallest difference that so many tasks show with the given power: the same formula, turned. */
export function smallestDifference(tasks: number, noise: ComparisonNoise, power = 0.8): number {
  const z = Z_95 + normalQuantile(power);
  return z * Math.sqrt(varianceOfDifference(noise) / tasks);
}

function varianceOfDifference(noise: ComparisonNoise): number {
  const [varianceA, varianceB] = noise.trialVariances;
  const [trialsA, trialsB] = noise.trialsPerTask;
  return noise.taskVariance + varianceA / trialsA + varianceB / trialsB;
}
