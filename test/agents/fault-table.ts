import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { AGENT_MODELS } from "./trial-scene.ts";
import { FAULTS, type FaultCell, SHORT_LIMITS } from "./provider-faults.ts";

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
  category: z.string().nullable(),
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
  return `# Faults of providers

What each agent's trial comes to when its provider fails. The agent solves its task with its model's first
answer; from the second request of its main work on the provider fails for ever. Graded by its workspace
alone every trial here would have passed: an outage is never scored, and the agent's own mistake always is.

Written by the test, last on ${dates.at(-1) ?? "no day"}; \`npm run test:soak -- --suite=faults\` makes it anew
(an hour). CI runs codex and pi with the short limits. Each field: outcome and \`error_category\`; how long
the agent worked; requests of the agent that failed → what reached the provider, our own further tries included.

## Short limits

First byte and pauses ${seconds(SHORT_LIMITS.firstByteMs)} each, ${String(SHORT_LIMITS.failuresInRow)} requests in a row, a request held for at most ${seconds(SHORT_LIMITS.maxHoldMs)} (\`modelLimits\` of a run's world).

${matrix(short)}

## Default limits

As \`bench run\` has them ([the model proxy](proxy.md)): first byte and pauses 120 s each, 12 requests in a row; the agent's own limit is named.

${matrix(byDefault)}
`;
}

function seconds(ms: number): string {
  return `${String(ms / 1000)} s`;
}

function matrix(cells: readonly Cell[]): string {
  const agents = AGENT_MODELS.filter(({ agent }) => cells.some((cell) => cell.agent === agent));
  const faults = FAULTS.filter(({ name }) => cells.some((cell) => cell.fault === name));
  const fields = faults.map(({ name }) =>
    [name].concat(agents.map(({ agent }) => fieldOf(cells, agent, name))),
  );
  const heading = ["Provider", ...agents.map(({ agent }): string => agent)];
  const lines = [heading, ...fields];
  const [head = "", ...body] = lines.map((line) => `| ${line.join(" | ")} |`);
  return [head, `|${"---|".repeat(agents.length + 1)}`, ...body].join("\n");
}

function fieldOf(cells: readonly Cell[], agent: string, fault: string): string {
  const cell = cells.find((each) => each.agent === agent && each.fault === fault);
  if (cell === undefined) return "not run";
  const { outcome, category, agentSec, limitSec, failed, atProvider } = cell;
  const isAtLimit = agentSec >= limitSec;
  const time = isAtLimit ? `its limit of ${String(limitSec)} s` : `${String(agentSec)} s`;
  return `${outcome}, \`${category ?? "none"}\`; ${time}; ${String(failed)} → ${String(atProvider)}`;
}
