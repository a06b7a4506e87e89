import { RequestError } from "@agentclientprotocol/sdk";
import * as z from "zod";
import type { ErrorCategory } from "../../core/model/outcome.ts";
import { Redactor } from "../proxy/redact/redactor.ts";
import type { AcpConnection } from "./acp-connection.ts";

/** Why an agent could not be brought to work, with the contract's category. */
export class AgentFailure extends Error {
  override readonly name = "AgentFailure";
  readonly category: ErrorCategory;

  constructor(category: ErrorCategory, message: string) {
    super(message);
    this.category = category;
  }
}

/** What a session is opened with. Texts are filled in. */
export interface SessionPlan {
  readonly agentName: string;
  readonly cwd: string;
  readonly mcpServers: readonly object[];
  readonly meta: object;
  readonly authenticate: string | null;
  readonly calls: readonly { readonly method: string; readonly params: object }[];
  readonly model: string;
  /** Null where nobody asked for one. */
  readonly effort: string | null;
  /** The config option to set the effort by. */
  readonly effortOption: string | null;
  readonly confirm: { readonly model: string | null; readonly effort: string | null };
  /** Of each step. */
  readonly stepMs: number;
}

export interface OpenSession {
  readonly sessionId: string;
}

const Initialized = z.looseObject({
  agentCapabilities: z
    .looseObject({ mcpCapabilities: z.record(z.string(), z.unknown()).catch({}) })
    .nullish()
    .catch(null),
  agentInfo: z
    .looseObject({ name: z.string().max(200), version: z.string().max(100).catch("") })
    .nullish()
    .catch(null),
});
const ConfigOptions = z
  .array(z.looseObject({ id: z.string(), currentValue: z.unknown().optional() }))
  .catch([]);
const NewSession = z.looseObject({
  sessionId: z.string().max(1024),
  configOptions: ConfigOptions.nullish(),
});
const Configured = z.looseObject({ configOptions: ConfigOptions.nullish() });

/** What every step of a start needs of the plan. */
type Starting = Pick<SessionPlan, "agentName" | "stepMs" | "authenticate" | "mcpServers">;

/** Makes itself known to a started agent, once (spec 10.2), and learns its name. Throws `AgentFailure`. */
export async function initializeAgent(
  connection: AcpConnection,
  plan: Starting,
): Promise<{ readonly agentName: string }> {
  const step = stepper(connection, plan);
  const { agentInfo, agentCapabilities } = await step(Initialized, "initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: "benchflow", version: "2.0.0" },
  });
  refuseTransports(plan, agentCapabilities?.mcpCapabilities ?? {});
  if (plan.authenticate !== null)
    await step(z.unknown(), "authenticate", { methodId: plan.authenticate });
  return { agentName: agentInfo?.name ?? plan.agentName };
}

/** Every agent takes programs; addresses only those that say so, and others leave them out (ACP, initialization). */
function refuseTransports(
  { mcpServers, agentName }: Starting,
  taken: Readonly<Record<string, unknown>>,
): void {
  for (const server of mcpServers) {
    const type = "type" in server ? String(server.type) : null;
    if (type === null || taken[type] === true) continue;
    const message = `${agentName} takes no MCP servers over ${type}, and the task has one`;
    throw new AgentFailure("agent_integration", message);
  }
}

/**
 * Brings an agent that knows us to the point where it can be asked (spec 10.2): session/new, its own
 * calls, effort; then reads back which model and effort it really runs, since agents take the nearest
 * name that they know. Throws `AgentFailure`.
 */
export async function openSession(
  connection: AcpConnection,
  plan: SessionPlan,
): Promise<OpenSession> {
  const step = stepper(connection, plan);
  const session = await step(NewSession, "session/new", {
    cwd: plan.cwd,
    mcpServers: plan.mcpServers,
    ...(Object.keys(plan.meta).length > 0 ? { _meta: plan.meta } : {}),
  });
  const { sessionId } = session;
  const options = new OptionValues(session.configOptions ?? []);
  for (const { method, params } of plan.calls)
    options.take(
      (await step(Configured.nullish(), method, { sessionId, ...params }))?.configOptions,
    );
  if (plan.effort !== null && plan.effortOption !== null) {
    const params = { sessionId, configId: plan.effortOption, value: plan.effort };
    const answer = await step(Configured, "session/set_config_option", params);
    options.take(answer.configOptions);
  }
  confirm(options, plan);
  return { sessionId };
}

/** The config options as the agent last told them. */
class OptionValues {
  readonly #values = new Map<string, unknown>();

  constructor(options: z.infer<typeof ConfigOptions>) {
    this.take(options);
  }

  take(options: z.infer<typeof ConfigOptions> | null | undefined): void {
    for (const { id, currentValue } of options ?? []) this.#values.set(id, currentValue);
  }

  get(id: string): unknown {
    return this.#values.get(id);
  }
}

function confirm(options: OptionValues, plan: SessionPlan): void {
  const { confirm: wanted, model, effort, agentName } = plan;
  if (wanted.model !== null) check(options.get(wanted.model), model, `${agentName}'s model`);
  if (wanted.effort !== null && effort !== null)
    check(options.get(wanted.effort), effort, `${agentName}'s effort`);
}

function check(found: unknown, wanted: string, what: string): void {
  if (found === wanted) return;
  const is = JSON.stringify(found) ?? "not told";
  throw new AgentFailure("agent_integration", `${what} is ${is}, not ${JSON.stringify(wanted)}`);
}

function stepper(
  connection: AcpConnection,
  { stepMs, agentName }: Pick<SessionPlan, "stepMs" | "agentName">,
) {
  return async <Shape extends z.ZodType>(
    shape: Shape,
    method: string,
    params: object,
  ): Promise<z.infer<Shape>> => {
    const answer = await answered(connection.request(method, params), {
      method,
      stepMs,
      agentName,
    });
    const parsed = shape.safeParse(answer ?? null);
    if (parsed.success) return parsed.data;
    const message = `${agentName} answered ${method} with ${JSON.stringify(answer)?.slice(0, 200) ?? "nothing"}`;
    throw new AgentFailure("agent_integration", message);
  };
}

interface Step {
  readonly method: string;
  readonly stepMs: number;
  readonly agentName: string;
}

async function answered(request: Promise<unknown>, { method, stepMs, agentName }: Step) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const limit = `${String(stepMs / 1000)} s`;
      reject(
        new AgentFailure("infra_failure", `${agentName} did not answer ${method} within ${limit}`),
      );
    }, stepMs);
  });
  try {
    return await Promise.race([request, late]);
  } catch (thrown) {
    if (thrown instanceof RequestError)
      throw new AgentFailure(
        "agent_integration",
        `${agentName} refused ${method}: ${acpErrorText(thrown)}`,
      );
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

/** The contract's words for an agent's own error (spec 2.3), with what it told beside it. */
export function acpErrorText(error: RequestError): string {
  // An agent may nest it deeper than a serialiser can go.
  const told = new Redactor([]).value(error.data);
  const data = told === undefined ? "" : ` (${JSON.stringify(told).slice(0, 500)})`;
  return `ACP error ${String(error.code)}: ${error.message.slice(0, 1000)}${data}`;
}
