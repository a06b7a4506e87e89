import { BenchError } from "../../core/errors.ts";
import {
  type ModelUpstream,
  type UpstreamCall,
  UpstreamError,
  type UpstreamReply,
} from "../../core/ports/model-upstream.ts";
import {
  createHttpUpstream,
  type Credential,
  type HttpUpstreamOptions,
} from "../proxy/http-upstream.ts";
import type { LoginSession } from "./login-session.ts";

/**
 * A provider that is paid by a subscription. A token that it refuses is renewed, and the call sent once
 * more: what was refused is not billed. A login that has ended is a refused key to all that follows.
 */
export function loginUpstream(
  session: LoginSession,
  options: Omit<HttpUpstreamOptions, "credential">,
): ModelUpstream {
  const given = new WeakMap<UpstreamCall, Credential>();
  const upstream = createHttpUpstream({
    ...options,
    credential: async (call) => given.get(call) ?? (await session.credential()),
  });
  const sendWith = async (call: UpstreamCall): Promise<UpstreamReply> => {
    try {
      given.set(call, await session.credential());
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      if (error.kind === "unavailable") throw new UpstreamError("unsent", error.message);
      return { status: 401, headers: {}, body: NOTHING };
    }
    return await upstream.send(call);
  };
  return {
    ...upstream,
    send: async (call) => {
      const reply = await sendWith(call);
      const used = given.get(call);
      if (reply.status !== 401 || used === undefined) return reply;
      if (!(await session.replaceRefused(used.value))) return reply;
      // Leaving the loop at its first step ends the connection.
      for await (const _ of reply.body) break;
      return await sendWith(call);
    },
  };
}

const NOTHING: UpstreamReply["body"] = {
  async *[Symbol.asyncIterator]() {
    // The status says it all.
  },
};
