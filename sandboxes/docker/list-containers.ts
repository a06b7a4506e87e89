import * as z from "zod";
import type { SandboxOwner } from "../../core/ports/sandbox.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, hasStatus } from "./engine-error.ts";
import { leaseEndOf, OWNED_LABEL, ownerOf, SERVES_LABEL } from "./ownership-labels.ts";

const Listed = z.array(
  z.looseObject({
    Id: z.string(),
    Names: z.array(z.string()).nullish(),
    /** Seconds. */
    Created: z.number(),
    Labels: z.record(z.string(), z.string()).nullish(),
  }),
);

/** A container that a run of ours made, running or not. Times are the daemon's. */
export interface OwnContainer {
  readonly id: string;
  /** The fixed part of its name. */
  readonly name: string;
  /** The name of the sandbox that it helps; null for a sandbox. */
  readonly serves: string | null;
  readonly owner: SandboxOwner | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

/** Every container that carries our label, whoever of us made it. */
export async function listContainers(client: EngineClient): Promise<readonly OwnContainer[]> {
  const query = { all: true, filters: JSON.stringify({ label: [`${OWNED_LABEL}=true`] }) };
  try {
    const listed = await client.json(Listed, "GET", "/containers/json", { query });
    return listed.map(({ Id, Names, Created, Labels }) => {
      const fullName = (Names?.[0] ?? "").replace(/^\//u, "");
      const labels = Labels ?? {};
      return {
        id: Id,
        name: fullName.replace(/-until-\d+$/u, ""),
        serves: labels[SERVES_LABEL] ?? null,
        owner: ownerOf(labels),
        createdAtMs: Created * 1000,
        expiresAtMs: leaseEndOf(fullName),
      };
    });
  } catch (error) {
    throw asSandboxError(error, "backend-unavailable", "cannot list containers");
  }
}

/** Whether the daemon knows a container, ours or not. */
export async function containerExists(client: EngineClient, id: string): Promise<boolean> {
  try {
    await client.run("GET", `/containers/${encodeURIComponent(id)}/json`);
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    throw asSandboxError(error, "backend-unavailable", "cannot look for a container");
  }
}

/** Gives a running container another name. Throws `lost` when it is gone. */
export async function renameContainer(
  client: EngineClient,
  id: string,
  query: { readonly name: string },
): Promise<void> {
  try {
    await client.run("POST", `/containers/${id}/rename`, { query });
  } catch (error) {
    throw asSandboxError(error, "lost", "cannot renew the lease");
  }
}
