import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { ErrorCategory } from "../../core/model/outcome.ts";
import { AGENT_MODELS } from "./trial-scene.ts";
import { FAULTS, type FaultCell, type OutcomeClass, SHORT_LIMITS } from "./provider-faults.ts";

const CELLS_FILE = fileURLToPath(new URL("../bench/results/agent-faults.json", import.meta.url));
const TABLE_FILE = fileURLToPath(new URL("../../docs/faults.md", import.meta.url));

/** Which limits a trial had: the matrix's seconds, or what a run has where nobody sets any. */
export type CellLimits = "short" | "default";

const Cell = z.object({
  limits: z.enum(["short", "default"]),
  measured_at: z.string(),
  agent: z.string(),
  fault: z.string(),
  outcome: z.string(),
  category: ErrorCategory.nullable(),
  agentSec: z.number(),
  limitSec: z.number(),
  failed: z.number(),
  atProvider: z.number(),
  withheld: z.number().nullable(),
});
type Cell = z.infer<typeof Cell>;

/** Keeps what a soak came to, in place of what an earlier one did, and writes the table anew. */
export async function keepCells(limits: CellLimits, cells: readonly FaultCell[]): Promise<void> {
  const measured = new Date().toISOString().slice(0, 10);
  const fresh = cells.map((cell): Cell => ({ limits, measured_at: measured, ...cell }));
  const kept = new Map<string, Cell>();
  for (const cell of [...(await earlierCells()), ...fresh]) kept.set(keyOf(cell), cell);
  const agents = AGENT_MODELS.map(({ agent }): string => agent);
  const faults = FAULTS.map(({ name }) => name);
  const place = (cell: Cell): number =>
    agents.indexOf(cell.agent) * faults.length + faults.indexOf(cell.fault);
  const all = [...kept.values()].toSorted((a, b) => place(a) - place(b));
  await writeFile(CELLS_FILE, `${JSON.stringify(all, null, 2)}\n`);
  await writeFile(TABLE_FILE, renderTable(all));
}

async function earlierCells(): Promise<Cell[]> {
  try {
    return z.array(Cell).parse(JSON.parse(await readFile(CELLS_FILE, "utf8")));
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return [];
    throw thrown;
  }
}

function keyOf({ limits, agent, fault }: Cell): string {
  return `${limits} ${agent} ${fault}`;
}

function renderTable(cells: readonly Cell[]): string {
  const short = cells.filter(({ limits }) => limits === "short");
  const byDefault = cells.filter(({ limits }) => limits === "default");
  const dates = cells.map(({ measured_at: at }) => at).toSorted();
  const { firstByteMs, failuresInRow, maxHoldMs } = SHORT_LIMITS;
  return `# Faults of providers

What a trial of each agent comes to when its provider fails. The agent solves its task with its model's first
answer; from the second request of its main work on the provider fails for ever. By its workspace alone every
trial here would have passed: an outage is never scored, its reward is withheld, and an agent's own mistake is graded.

Written by the test, last on ${dates.at(-1) ?? "no day"}: \`npm run test:soak -- --suite=faults\` makes it anew in half an hour.
CI runs codex and pi with the short limits. A field tells how long the agent worked, and how many of its requests
failed → what reached the provider, our own further tries included. Where a trial came to something else than the
second column says, its field says so.

## Short limits

First byte and pauses ${seconds(firstByteMs)} each, ${String(failuresInRow)} requests in a row, a request held for at most ${seconds(maxHoldMs)} (\`modelLimits\` of a run's world).

${matrix(short)}

## Default limits

As \`bench run\` has them ([the model proxy](proxy.md)): first byte and pauses 120 s each, 12 requests in a row. A provider that hangs is left at the agent's own limit of the task.

${matrix(byDefault)}
`;
}

function seconds(ms: number): string {
  return `${String(ms / 1000)} s`;
}

function matrix(cells: readonly Cell[]): string {
  const agents = AGENT_MODELS.map(({ agent }): string => agent);
  const faults = FAULTS.filter(({ name }) => cells.some((cell) => cell.fault === name));
  const rows = faults.map(({ name, expected }) => {
    const fields = agents.map((agent) => {
      const cell = cells.find((each) => each.agent === agent && each.fault === name);
      return cell === undefined ? "not run" : fieldOf(cell, expected);
    });
    return [name, classText(expected)].concat(fields);
  });
  const heading = ["Provider", "Trial"].concat(agents);
  const [head = "", ...body] = [heading, ...rows].map((line) => `| ${line.join(" | ")} |`);
  return [head, `|${"---|".repeat(heading.length)}`, ...body].join("\n");
}

function classText({ outcome, category }: OutcomeClass): string {
  return `${outcome}, \`${category ?? "no category"}\``;
}

function fieldOf(cell: Cell, expected: OutcomeClass): string {
  const { outcome, category, agentSec, limitSec, failed, atProvider } = cell;
  const isExpected = outcome === expected.outcome && category === expected.category;
  const time = agentSec >= limitSec ? `limit of ${String(limitSec)} s` : `${String(agentSec)} s`;
  const figures = `${time}, ${String(failed)} → ${String(atProvider)}`;
  return isExpected ? figures : `**${outcome}, ${category ?? "no category"}**: ${figures}`;
}
