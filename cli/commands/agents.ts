import { resolve } from "node:path";
import {
  agentCatalogue,
  type CatalogueEntry,
  installAgents,
  pruneAgents,
} from "../../api/agent-catalogue.ts";
import { lockAgentFile } from "../../api/lock-agent-file.ts";
import { renderTable } from "../../core/report/console/results-table.ts";
import type { CliContext, ExitCode } from "../context.ts";

/** `bench agents list`: the agents of this edition, what they are made of, and which are installed here. */
export async function listAgents(context: CliContext, json: boolean): Promise<ExitCode> {
  const entries = await agentCatalogue(context.env);
  context.out.write(json ? `${JSON.stringify(entries, null, 2)}\n` : renderAgents(entries));
  return 0;
}

/** `bench agents install [NAME...]`: fetches the programs now, so that a run need not. */
export async function installNamedAgents(
  context: CliContext,
  { names, platform }: { readonly names: readonly string[]; readonly platform: string | null },
): Promise<ExitCode> {
  await installAgents(context.env, {
    names,
    platform,
    signal: context.signal,
    onInstall: (name) => context.err.write(`installing ${name}\n`),
    onReady: (name) => context.out.write(`${name} is installed\n`),
  });
  return 0;
}

/** `bench agents lock FILE`: asks npm for the tree of an agent's packages, and writes it beside the file. */
export async function lockOwnAgent(context: CliContext, file: string): Promise<ExitCode> {
  const { env, signal } = context;
  const { path, packages } = await lockAgentFile(resolve(context.cwd, file), { env, signal });
  context.out.write(
    path === null
      ? "it has no packages: there is nothing to lock\n"
      : `${path}: ${String(packages)} packages\n`,
  );
  return 0;
}

/** `bench agents prune`: removes programs of other versions, those that runs use excepted. */
export async function pruneInstalledAgents(context: CliContext, all: boolean): Promise<ExitCode> {
  const removed = await pruneAgents(context.env, { all });
  for (const { name, packages, sizeBytes } of removed)
    context.out.write(`removed ${name} (${versionsOf(packages)}, ${megabytes(sizeBytes)})\n`);
  context.err.write(`${String(removed.length)} trees removed\n`);
  return 0;
}

function renderAgents(entries: readonly CatalogueEntry[]): string {
  const rows = entries.map(({ name, aliases, protocols, packages, installedBytes }) => [
    name,
    aliases.join(", ") || "-",
    protocols.join(", "),
    versionsOf(packages),
    installedBytes === null ? "no" : megabytes(installedBytes),
  ]);
  const header = ["Agent", "Alias", "Speaks", "Packages", "Installed"];
  return `${renderTable([header, ...rows]).join("\n")}\n`;
}

function versionsOf(packages: Readonly<Record<string, string>>): string {
  return Object.entries(packages)
    .map(([name, version]) => `${name}@${version}`)
    .join(", ");
}

function megabytes(sizeBytes: number): string {
  return `${String(Math.round(sizeBytes / 1e6))} MB`;
}
