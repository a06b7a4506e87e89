import type { IncomingMessage, ServerResponse } from "node:http";
import { AgentResponse } from "./agent-response.ts";
import { CallGuard, CallStop } from "./call-guard.ts";
import { CallRecord } from "./call-record.ts";
import { errorReply } from "./error-reply.ts";
import { countTokensAnswer, modelAnswer, modelsAnswer } from "./local-answers.ts";
import { prepareCall } from "./prepare-call.ts";
import type { PreparedCall } from "./prepare-call.ts";
import type { ProxyContext } from "./proxy-context.ts";
import { readBody } from "./read-body.ts";
import type { BodyRead } from "./read-body.ts";
import { refuseCall, refuseStopped } from "./refuse-call.ts";
import { routeRequest } from "./route-request.ts";
import type { Route } from "./route-request.ts";
import { serveCall } from "./serve-call.ts";
import { translateCall } from "./translate-call.ts";

interface Exchanged {
  readonly request: IncomingMessage;
  readonly agent: AgentResponse;
  readonly record: CallRecord;
  readonly guard: CallGuard;
}

type ModelRoute = Extract<Route, { kind: "model" }>;

/**
 * Serves one request of the agent to its end, and records it if it asked for a model or for something
 * that is not served. Never rejects.
 */
export async function serveRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { route, path, keyParameter } = routeRequest(request.method ?? "", request.url ?? "");
  const guard = new CallGuard(context.limits);
  const agent = new AgentResponse(response, () => guard.stop("gone"));
  if (route.kind === "health") {
    guard.end();
    return agent.send(200, { "content-type": "text/plain" }, "");
  }
  const { clock, state } = context;
  const record = new CallRecord({
    index: state.nextIndex(),
    now: clock.now(),
    startMs: clock.monotonicMs(),
    method: request.method ?? "",
    path,
  });
  const exchanged = { request, agent, record, guard };
  guard.signal.addEventListener("abort", () => breakOff(agent, guard.signal.reason));
  try {
    if (!context.isTrial(request.headers, keyParameter)) refuseStranger(exchanged);
    else await serveRoute(context, exchanged, route);
  } finally {
    guard.end();
    if (!request.complete) request.resume();
    if (route.kind === "model" || record.end === "refused") finish(context, record);
  }
}

async function serveRoute(
  context: ProxyContext,
  exchanged: Exchanged,
  route: Exclude<Route, { kind: "health" }>,
): Promise<void> {
  const { agent, record } = exchanged;
  const { clientModel, aliases } = context.models;
  switch (route.kind) {
    case "refused":
      record.refuse(route.reason);
      agent.sendJson(route.status, { error: { message: route.reason, type: "not_found_error" } });
      record.status = agent.status;
      return;
    case "count-tokens": {
      const read = await readRequest(context, exchanged);
      if ("bytes" in read)
        agent.sendJson(200, countTokensAnswer(route.protocol, read.bytes.length));
      return;
    }
    case "models": {
      const names = [clientModel, ...aliases];
      const answer =
        route.model === null
          ? modelsAnswer(route.protocol, names)
          : modelAnswer(route.protocol, names, route.model);
      agent.sendJson(
        answer === null ? 404 : 200,
        answer ?? { error: { message: "no such model" } },
      );
      return;
    }
    case "model":
      return serveModel(context, exchanged, route);
  }
}

async function serveModel(
  context: ProxyContext,
  exchanged: Exchanged,
  route: ModelRoute,
): Promise<void> {
  const { agent, record, guard, request } = exchanged;
  record.protocol = route.protocol;
  const upstream = context.upstreams.get(route.protocol);
  if (upstream === undefined) {
    record.refuse("protocol not served");
    const message = `${route.protocol} is not served in this run`;
    agent.sendError(route.protocol, { status: 404, code: "not_served", message });
    record.status = agent.status;
    return;
  }
  const read = await readRequest(context, exchanged);
  if (!("bytes" in read)) return;
  const prepared = prepareCall(
    { protocol: route.protocol, bytes: read.bytes, path: route },
    { models: context.models, maxOutputTokens: context.maxOutputTokens, upstream },
  );
  const call = "status" in prepared ? prepared : translateCall(context, prepared, upstream);
  record.purpose = call.purpose;
  record.modelAsked = call.modelAsked;
  if ("status" in call) {
    record.refuse(call.code);
    record.responseBody = errorReply(route.protocol, call);
    agent.sendError(route.protocol, call);
    record.status = agent.status;
    return;
  }
  await callModel(context, exchanged, {
    call,
    record,
    agent,
    guard,
    upstream,
    query: route.query,
    agentHeaders: request.headers,
    prepared: call,
  });
}

async function callModel(
  context: ProxyContext,
  { record, guard }: Exchanged,
  served: Parameters<typeof serveCall>[1] & { readonly prepared: PreparedCall },
): Promise<void> {
  const { state, limits } = context;
  record.prepared = served.prepared;
  record.tryNumber = state.tryNumber(served.prepared.purpose);
  if (state.stopped !== null) return refuseStopped(served, state.stopped.reason);
  if (state.live.size >= limits.maxConcurrent)
    return refuseCall(served, {
      status: 429,
      code: "too_many_requests",
      message: `more than ${limits.maxConcurrent} requests at once`,
      retryAfterSec: 1,
    });
  state.live.add(guard);
  try {
    await serveCall(context, served);
  } finally {
    state.live.delete(guard);
  }
}

/** Reads the body, or answers why not. */
async function readRequest(
  { limits, state }: ProxyContext,
  { request, agent, record }: Exchanged,
): Promise<BodyRead | { readonly gone: true }> {
  let read: BodyRead;
  try {
    read = await readBody(request, limits.maxBodyBytes, state.pending);
  } catch {
    // The agent broke off while it was still asking.
    record.end = "aborted";
    return { gone: true };
  }
  if ("bytes" in read) {
    record.requestBytes = read.bytes.length;
    return read;
  }
  record.refuse("body");
  const error = { status: read.status, code: "invalid_body", message: read.message };
  agent.sendError(record.protocol ?? "openai-completions", error, { connection: "close" });
  record.status = agent.status;
  return read;
}

/** An agent that reads slowly, or not at all, must not keep a call alive that has been ended. */
function breakOff(agent: AgentResponse, reason: unknown): void {
  const isLimit =
    reason instanceof CallStop && (reason.kind === "first-byte" || reason.kind === "idle");
  if (!isLimit && agent.isCommitted) agent.cut();
}

function refuseStranger({ agent, record }: Exchanged): void {
  record.refuse("token");
  const error = { message: "not this trial's token", type: "authentication_error" };
  agent.sendJson(401, { type: "error", error });
  record.status = agent.status;
}

function finish({ state, sink, clock, redactor, limits }: ProxyContext, record: CallRecord): void {
  const endMs = clock.monotonicMs();
  state.count(record);
  if (!state.isWorthRecording(record)) return;
  const kept = {
    maxStringChars: limits.maxRecordStringChars,
    maxBodyChars: limits.maxRecordChars,
  };
  sink.write(record.row(endMs, redactor), record.exchange(endMs, { redactor, limits: kept }));
}
