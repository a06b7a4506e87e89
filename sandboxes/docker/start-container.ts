import * as z from "zod";
import { SandboxError, type SandboxRequest } from "../../core/ports/sandbox.ts";
import { containerBody } from "./container-body.ts";
import { attachTo, ControlChannel } from "./control-channel.ts";
import type { EngineClient } from "./engine-client.ts";
import { asSandboxError, EngineError, hasStatus } from "./engine-error.ts";
import { leaseName, newSandboxName } from "./ownership-labels.ts";
import { removeContainer } from "./remove-container.ts";
import type { StartGate } from "./start-gate.ts";

const Created = z.looseObject({ Id: z.string() });

export interface StartOptions {
  readonly request: SandboxRequest;
  readonly hasDiskQuota: boolean;
  /** The daemon's time now, in milliseconds. */
  readonly daemonNowMs: number;
  /** Where it gets a network and its walls while it starts; null for a start without a network. */
  readonly gate: StartGate | null;
}

export interface StartedSupervisor {
  readonly id: string;
  /** The fixed part of its name. */
  readonly name: string;
  readonly control: ControlChannel;
}

/** A container that could neither be started nor removed: nobody may go on as if it were not there. */
export class LeftContainer extends SandboxError {}

/**
 * Creates and starts a container and waits until its supervisor answers. On failure and on abort
 * nothing of it is left.
 */
export async function startContainer(
  client: EngineClient,
  options: StartOptions,
): Promise<StartedSupervisor> {
  const { request } = options;
  request.signal.throwIfAborted();
  const name = newSandboxName();
  const fullName = leaseName(name, options.daemonNowMs + request.owner.leaseMs);
  try {
    const id = await create(client, fullName, options);
    request.signal.throwIfAborted();
    const streams = await attachTo(client, id);
    await start(client, id, request.image.id);
    await options.gate?.pass({ id, name }, streams);
    const control = new ControlChannel(streams);
    await greet(control, request.image.id);
    request.signal.throwIfAborted();
    return { id, name, control };
  } catch (error) {
    await removeContainer(client, fullName).catch((failure: unknown) => {
      throw new LeftContainer("start-failed", `${fullName} was not removed: ${String(failure)}`, {
        cause: error,
      });
    });
    throw error;
  }
}

async function create(
  client: EngineClient,
  name: string,
  { request, hasDiskQuota, gate }: StartOptions,
): Promise<string> {
  const gateLenderId = gate?.lenderId ?? null;
  const json = containerBody({ ...request, hasDiskQuota, gateLenderId });
  try {
    // Not aborted half-way: a container that was made must be known, so that it can be removed.
    const { Id } = await client.json(Created, "POST", "/containers/create", {
      query: { name },
      json,
    });
    return Id;
  } catch (error) {
    if (error instanceof EngineError && /bind source path does not exist/u.test(error.message))
      throw new SandboxError(
        "unsupported",
        `this docker daemon does not see this machine's files: ${error.message}`,
        { cause: error },
      );
    const isMissing = hasStatus(error, 404);
    throw asSandboxError(
      error,
      isMissing ? "image-missing" : "start-failed",
      `cannot create a container from ${request.image.id}`,
    );
  }
}

async function start(client: EngineClient, id: string, image: string): Promise<void> {
  try {
    await client.run("POST", `/containers/${id}/start`);
  } catch (error) {
    if (error instanceof EngineError && /\/bin\/sh/u.test(error.message))
      throw new SandboxError(
        "start-failed",
        `image ${image} has no /bin/sh, which every sandbox needs: ${error.message}`,
        { cause: error },
      );
    throw asSandboxError(error, "start-failed", `cannot start a container from ${image}`);
  }
}

async function greet(control: ControlChannel, image: string): Promise<void> {
  try {
    await control.greet();
  } catch (error) {
    control.close();
    throw new SandboxError(
      "start-failed",
      `a container from ${image} ended at once: its /bin/sh is no shell that starts here`,
      { cause: error },
    );
  }
}
