// Writes the JSON Schemas of the files and documents that others read into docs/schemas/, from the
// zod schemas in core/model. `npm run schemas`; a test compares what is there with what would come.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { AgentDefinition } from "../core/model/agent-definition.ts";
import { AgentLock } from "../core/model/agent-lock.ts";
import { Evaluation } from "../core/model/evaluation.ts";
import { JobDocument, TrialDocument } from "../core/model/job-view.ts";
import { ScriptFile } from "../core/model/model-script.ts";
import { MatrixSummary } from "../core/model/matrix-summary.ts";
import { ProviderFile } from "../core/model/provider-file.ts";
import { ResultsRow } from "../core/model/results-row.ts";
import { RunCard } from "../core/model/run-card.ts";
import { RunSummary } from "../core/model/run-summary.ts";
import { Seal } from "../core/model/seal.ts";
import { JobSummary } from "../core/model/summary.ts";
import { VerificationReport } from "../core/model/verification-report.ts";
import { TrialConfig } from "../core/model/trial-config.ts";
import { TrialResult } from "../core/model/trial-result.ts";

interface SchemaFile {
  readonly name: string;
  /** What the schema is of, for its reader. */
  readonly title: string;
  readonly schema: z.ZodType;
  /** `input` for what people write, where fields with a default may be left out. */
  readonly io?: "input";
}

const SCHEMAS: readonly SchemaFile[] = [
  { name: "trial-result", title: "result.json of a trial", schema: TrialResult },
  { name: "trial-config", title: "config.json of a trial", schema: TrialConfig },
  { name: "results-row", title: "a line of results.jsonl, version 2", schema: ResultsRow },
  { name: "seal", title: "seal.json of a trial", schema: Seal },
  { name: "evaluation", title: "evaluation.json of a job", schema: Evaluation },
  { name: "job-summary", title: "summary.json of a job", schema: JobSummary },
  { name: "matrix-summary", title: "matrix-summary.json of a run", schema: MatrixSummary },
  { name: "run-summary", title: "the file of bench run --summary-out", schema: RunSummary },
  { name: "model-script", title: "the file of -m scripted/FILE", schema: ScriptFile, io: "input" },
  { name: "agent-file", title: "the file of --agent-file", schema: AgentDefinition, io: "input" },
  {
    name: "provider-file",
    title: "the file of --provider-file",
    schema: ProviderFile,
    io: "input",
  },
  { name: "agent-lock", title: "what bench agents lock writes", schema: AgentLock },
  { name: "run-card", title: "run-card.json of a job or a run", schema: RunCard },
  { name: "verification", title: "bench verify --json", schema: VerificationReport },
  { name: "job-document", title: "bench results --json", schema: JobDocument },
  { name: "trial-document", title: "a trial in bench results --json", schema: TrialDocument },
];

export const SCHEMA_DIR = fileURLToPath(new URL("../docs/schemas", import.meta.url));

/** Every schema file: name to text. */
export function renderSchemas(): ReadonlyMap<string, string> {
  return new Map(
    SCHEMAS.map(({ name, title, schema, io }) => {
      const { $schema, ...rest } =
        io === undefined ? z.toJSONSchema(schema) : z.toJSONSchema(schema, { io });
      return [`${name}.schema.json`, `${JSON.stringify({ $schema, title, ...rest }, null, 2)}\n`];
    }),
  );
}

function writeSchemas(): void {
  mkdirSync(SCHEMA_DIR, { recursive: true });
  const files = renderSchemas();
  for (const stale of readdirSync(SCHEMA_DIR).filter((name) => name.endsWith(".schema.json"))) {
    if (!files.has(stale)) rmSync(join(SCHEMA_DIR, stale));
  }
  for (const [name, text] of files) writeFileSync(join(SCHEMA_DIR, name), text);
  console.log(`${files.size} schemas in docs/schemas`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeSchemas();
