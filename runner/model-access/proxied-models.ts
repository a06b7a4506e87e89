import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../core/errors.ts";
import type { TrialAccount } from "../../core/ledger/trial-account.ts";
import type { RequestRow } from "../../core/model/exchange.ts";
import type { AttemptSpec } from "../../core/model/trial.ts";
import { judgeModels, type ModelStop } from "../../core/outcome/judge-models.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type {
  ModelAccess,
  ModelAccessRequest,
  ModelUse,
  OpenModels,
} from "../../core/ports/model-access.ts";
import { agentProtocolOf, type ModelUpstream } from "../../core/ports/model-upstream.ts";
import type { PriceTable } from "../../core/ports/price-table.ts";
import { type ForwardedPort, SandboxError } from "../../core/ports/sandbox.ts";
import { accountGate, type CappedUnits } from "../proxy/account-gate.ts";
import { ExchangeLog } from "../proxy/exchange-log.ts";
import { type ModelProxy, startModelProxy } from "../proxy/model-proxy.ts";
import { DEFAULT_LIMITS, type ProxyLimits } from "../proxy/proxy-options.ts";
import type { KeyWatch } from "./key-watch.ts";
import { countCalls, usageOf } from "./count-calls.ts";

/** How often a trial asks the pot whether it may go on. */
const CHECK_MS = 10_000;

/** What a run's trials share on the way to their model. */
export interface ProxiedModelsOptions {
  /** Our prefix of the provider, for prices. */
  readonly provider: string;
  /** The provider's own name for the model. */
  readonly model: string;
  /** A trial's own connection to the provider, one for each dialect that is served; in order of choice. */
  readonly connect: (spec: AttemptSpec) => readonly [ModelUpstream, ...ModelUpstream[]];
  readonly prices: PriceTable;
  readonly maxOutputTokens: number | null;
  /** The provider's keys: in no file, and in nothing that an agent gets. */
  readonly secrets: readonly string[];
  /** Tokens of a subscription's login, which pays for all calls: their dollars are unknown. */
  readonly loginSecrets?: readonly string[];
  readonly capped: CappedUnits;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
  /** Shared by the trials of a command: whose key is refused is refused for all of them. */
  readonly keyWatch: KeyWatch;
  readonly limits?: Partial<ProxyLimits>;
}

/**
 * The models of one trial behind a proxy of its own, which listens on a unix socket of this machine
 * that a port of the sandbox leads to. Every call is paid for from `account` first.
 */
export function proxiedModels(account: TrialAccount, options: ProxiedModelsOptions): ModelAccess {
  return { open: async (request) => await openModels(request, account, options) };
}

async function openModels(
  request: ModelAccessRequest,
  account: TrialAccount,
  options: ProxiedModelsOptions,
): Promise<OpenModels> {
  const dir = await mkdtemp(join(tmpdir(), "bench-models-"));
  const rows: RequestRow[] = [];
  const upstreams = options.connect(request.spec);
  const own = { dir, rows, account, upstreams };
  const { log, proxy } = await startProxy(request, options, own).catch(async (error: unknown) => {
    await rm(dir, { recursive: true, force: true });
    throw error;
  });
  const takeAway = async (port: ForwardedPort | null): Promise<void> => {
    await proxy.close();
    await closePort(port, (why) => {
      options.onWarning(`${request.spec.rolloutName}: its way to the models stays: ${why}`);
    });
    await log.close();
    await rm(dir, { recursive: true, force: true });
  };
  let port: ForwardedPort;
  try {
    port = await request.sandbox.forward(proxy.address);
  } catch (error) {
    await takeAway(null);
    throw error;
  }
  const watch = watchAccount(account, proxy);
  const unwatch = stopWithKey(options.keyWatch, proxy);
  let closing: Promise<ModelUse> | null = null;
  const close = async (): Promise<ModelUse> => {
    clearInterval(watch);
    unwatch();
    // The trial's end would otherwise stand for the reason.
    const stop = proxy.stopped();
    await takeAway(port);
    const failure = await giveBack(account);
    const calls = countCalls(rows, proxy.totals());
    return {
      calls,
      usage: usageOf(calls, proxy.totals().tokens),
      end: judgeModels(rows, stop ?? failure ?? lateStop(proxy)),
    };
  };
  return {
    ...describeModels(options),
    protocol: agentProtocolOf(upstreams[0]),
    origin: `http://127.0.0.1:${String(port.port)}`,
    token: proxy.token,
    hidden: { secrets: options.secrets, later: options.loginSecrets ?? [] },
    heldMs: () => proxy.totals().heldMs,
    stopped: () => proxy.stopped(),
    isFailing: () => judgeModels(rows, null).kind !== "sound",
    stop: (message) => {
      proxy.stop("cancelled", message);
    },
    close: () => (closing ??= close()),
  };
}

/** A sandbox that is gone keeps nobody from counting what was spent; its own end tells the failure. */
async function closePort(
  port: ForwardedPort | null,
  onFailure: (why: string) => void,
): Promise<void> {
  try {
    await port?.close();
  } catch (thrown) {
    if (!(thrown instanceof SandboxError)) throw thrown;
    onFailure(thrown.message);
  }
}

/** What no open call needs goes back to the pot at once; a pot that cannot be asked is the trial's end. */
async function giveBack(account: TrialAccount): Promise<ModelStop | null> {
  try {
    await account.giveBack();
    return null;
  } catch (thrown) {
    return { reason: "ledger", message: messageOf(thrown) };
  }
}

/** What the last settlements found, after the trial's own end. */
function lateStop(proxy: ModelProxy): ReturnType<ModelProxy["stopped"]> {
  const stop = proxy.stopped();
  return stop?.reason === "trial-ended" ? null : stop;
}

function describeModels({
  provider,
  model,
  prices,
  maxOutputTokens,
  clock,
}: ProxiedModelsOptions): Pick<OpenModels, "model" | "contextTokens" | "maxOutputTokens"> {
  const card = prices.find({ provider, model, at: clock.now() });
  return {
    model,
    contextTokens: card?.contextTokens ?? null,
    maxOutputTokens: maxOutputTokens ?? card?.maxOutputTokens ?? null,
  };
}

async function startProxy(
  { spec, folder, needs }: ModelAccessRequest,
  options: ProxiedModelsOptions,
  own: {
    readonly dir: string;
    readonly rows: RequestRow[];
    readonly account: TrialAccount;
    readonly upstreams: readonly ModelUpstream[];
  },
): Promise<{ readonly proxy: ModelProxy; readonly log: ExchangeLog }> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const files = {
    exchanges: await folder.append("trajectory/llm_trajectory.jsonl"),
    rows: await folder.append("trajectory/requests.jsonl"),
  };
  const log = new ExchangeLog(files, (message) => {
    options.onWarning(`${spec.rolloutName}: a model request was not recorded: ${message}`);
  });
  const full = spec.model ?? options.model;
  try {
    const proxy = await startModelProxy({
      listen: { kind: "unix", path: join(own.dir, "models.sock") },
      upstreams: own.upstreams,
      models: {
        clientModel: options.model,
        upstreamModel: options.model,
        aliases: [...new Set([...needs.aliases, full, `${options.provider}/${options.model}`])],
      },
      modelLimits: { contextTokens: null, maxOutputTokens: null },
      maxOutputTokens: options.maxOutputTokens,
      prices: options.prices,
      gate: accountGate(own.account, { capped: options.capped, patienceMs: limits.firstByteMs }),
      sink: {
        write(told, exchange) {
          const row = options.loginSecrets === undefined ? told : subscribedRow(told);
          own.rows.push(row);
          options.keyWatch.note(row);
          log.write(row, exchange);
        },
      },
      clock: options.clock,
      secrets: options.secrets,
      ...(options.loginSecrets === undefined ? {} : { laterSecrets: options.loginSecrets }),
      limits,
    });
    return { proxy, log };
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** A trial whose key another one found refused asks no more. */
function stopWithKey({ refused }: KeyWatch, proxy: ModelProxy): () => void {
  // What is in flight gets an answer of its own: broken off, it would be charged as if it had been served.
  const stop = (): void => proxy.refuseMore("breaker", String(refused.reason));
  if (refused.aborted) stop();
  refused.addEventListener("abort", stop);
  return () => refused.removeEventListener("abort", stop);
}

/** What a login paid for has a price that nobody tells, which is not nothing. */
function subscribedRow(row: RequestRow): RequestRow {
  if (row.cost_status === "none") return row;
  return { ...row, cost_micro_usd: null, cost_status: "subscription", price_source: null };
}

/** The pot may end a trial between its calls: another one's anomaly, the breaker, no money for any. */
function watchAccount(account: TrialAccount, proxy: ModelProxy): NodeJS.Timeout {
  const look = async (): Promise<void> => {
    try {
      const end = await account.check();
      if (end !== null) proxy.stop(end.by, end.why);
    } catch (thrown) {
      proxy.stop("ledger", messageOf(thrown));
    }
  };
  return setInterval(() => void look(), CHECK_MS);
}
