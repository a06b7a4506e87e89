import { setTimeout as delay } from "node:timers/promises";
import { sha256Hex } from "../host/sha256-hex.ts";
import { AwsError } from "./aws-error.ts";
import type { FoundKeys } from "./container-keys.ts";
import { textOf } from "./read-xml.ts";
import { signLink } from "./sign-link.ts";
import { signRequest } from "./sign-request.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A body that can be sent again when a connection breaks. */
export interface SentBody {
  readonly sizeBytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly open: () => AsyncIterable<Uint8Array>;
}

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** From `/BUCKET` on; escaped. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | SentBody;
  readonly signal?: AbortSignal;
  /** Answers besides 2xx that are no error. */
  readonly accept?: readonly number[];
}

/** Where a command or a program acts. */
export function regionOf(env: Env): string {
  return env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"] ?? "us-east-1";
}

const EMPTY = new Uint8Array();
const MAX_TRIES = 8;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 10_000;
/** Keys that end sooner are asked for again. */
const KEY_MARGIN_MS = 5 * 60_000;
const THROTTLED = /throttl|slowdown|toomanyrequests|rate exceeded|requestlimitexceeded/iu;

/**
 * Signed requests to S3 in one region, as one identity. A broken connection, a 5xx and a throttled call are
 * tried again with growing, random waits. Everything else that is no 2xx throws `AwsError`. Own code beside
 * AWS's SDK: a sync is tens of thousands of small reads, and the first program of a task must fit into the
 * task's definition (docs/decisions/2026-11-30-aws-client.md).
 */
export class S3Client {
  readonly region: string;
  readonly #findKeys: () => Promise<FoundKeys>;
  readonly #origin: string;
  #found: Promise<FoundKeys> | null = null;

  /** Reads AWS_REGION, AWS_DEFAULT_REGION and AWS_ENDPOINT_URL; `findKeys` is asked again when keys end. */
  constructor(env: Env, findKeys: () => Promise<FoundKeys>) {
    this.region = regionOf(env);
    this.#findKeys = findKeys;
    this.#origin = env["AWS_ENDPOINT_URL"] ?? `https://s3.${this.region}.amazonaws.com`;
  }

  async send(request: S3Request): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      const last = tries === MAX_TRIES;
      const answer = await this.#try(request).catch((error: unknown) => {
        if (last || request.signal?.aborted === true || !isBroken(error)) throw error;
        return null;
      });
      if (answer !== null) {
        if (answer.ok || request.accept?.includes(answer.status) === true) return answer;
        const error = await errorOf(answer);
        if (last || !isPassing(error)) throw error;
      }
      const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) * Math.random();
      await delay(wait, undefined, request.signal === undefined ? {} : { signal: request.signal });
    }
  }

  /** An address of an object in S3 that whoever has it may read, or write, for that long. */
  async linkTo(method: "GET" | "PUT", path: string, expiresSec: number): Promise<string> {
    const url = new URL(`${this.#origin}${path}`);
    const { keys } = await this.#keys();
    return signLink({ method, url, region: this.region, keys, now: new Date(), expiresSec }).href;
  }

  async #try(request: S3Request): Promise<Response> {
    const { method, body = EMPTY } = request;
    const isInMemory = body instanceof Uint8Array;
    const url = new URL(`${this.#origin}${request.path}`);
    const headers = signRequest({
      method,
      url,
      headers: request.headers ?? {},
      bodySha256: isInMemory ? sha256Hex(body) : body.sha256,
      region: this.region,
      keys: (await this.#keys()).keys,
      now: new Date(),
    });
    const hasBody = method === "PUT" || method === "POST";
    return await fetch(url, {
      method,
      headers: {
        ...headers,
        ...(hasBody && !isInMemory ? { "content-length": String(body.sizeBytes) } : {}),
      },
      ...(hasBody
        ? { body: isInMemory ? body : ReadableStream.from(body.open()), duplex: "half" }
        : {}),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
  }

  /** Of all requests that need them at a time, the first asks for them. */
  async #keys(): Promise<FoundKeys> {
    const asked = this.#ask();
    const found = await asked;
    const ends = found.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    if (ends - Date.now() >= KEY_MARGIN_MS) return found;
    if (this.#found === asked) this.#found = null;
    return await this.#ask();
  }

  /** A failure is not kept. */
  #ask(): Promise<FoundKeys> {
    this.#found ??= this.#findKeys().catch((error: unknown) => {
      this.#found = null;
      throw error;
    });
    return this.#found;
  }
}

/** undici tells of a connection that broke as a `TypeError`; what else is thrown is our own mistake. */
function isBroken(error: unknown): boolean {
  return error instanceof TypeError && error.message === "fetch failed";
}

function isPassing({ status, code, message }: AwsError): boolean {
  return status >= 500 || status === 429 || THROTTLED.test(code) || THROTTLED.test(message);
}

async function errorOf(answer: Response): Promise<AwsError> {
  const text = await answer.text();
  const { status } = answer;
  const code = textOf(text, "Code");
  // A HEAD has no body: the status alone says what happened.
  if (code === null)
    return new AwsError({ status, code: `HTTP ${status}`, message: text.slice(0, 300) });
  return new AwsError({ status, code, message: textOf(text, "Message") ?? "" });
}
