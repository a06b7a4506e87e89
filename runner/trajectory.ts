import type { AppendFile, AttemptFolder } from "../core/ports/attempt-folder.ts";
import { toPythonJson } from "../core/results/python-json.ts";
import type { TrajectoryEvent } from "../core/model/trajectory.ts";

/**
 * Writes `trajectory/acp_trajectory.jsonl` while the agent works: every event reaches the file as it
 * happens, so that a killed attempt keeps what was seen (failures C-15).
 */
export class Trajectory {
  readonly events: TrajectoryEvent[] = [];
  readonly #file: AppendFile;

  private constructor(file: AppendFile) {
    this.#file = file;
  }

  static async open(folder: AttemptFolder): Promise<Trajectory> {
    return new Trajectory(await folder.append("trajectory/acp_trajectory.jsonl"));
  }

  async record(event: TrajectoryEvent): Promise<void> {
    this.events.push(event);
    await this.#file.append(new TextEncoder().encode(`${toPythonJson(event)}\n`));
  }

  /** The file's content so far: what verifiers read inside the sandbox. */
  text(): string {
    return this.events.map((event) => `${toPythonJson(event)}\n`).join("");
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
