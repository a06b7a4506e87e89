import { createHash } from "node:crypto";
import { AwsError, awsFailure } from "../../aws/aws-error.ts";
import type { S3Client, S3Request } from "../../aws/s3-client.ts";
import { escapeUri } from "../../aws/escape-uri.ts";
import { elementsOf, textOf } from "../../aws/read-xml.ts";
import { BenchError } from "../../core/errors.ts";
import type {
  FoundObject,
  ObjectBody,
  ObjectStore,
  OpenObject,
} from "../../core/ports/object-store.ts";
import type { ByteStream } from "../../core/ports/sandbox.ts";

/** One PUT takes no more (S3 User Guide, "Uploading objects"). */
const MAX_PUT_BYTES = 5 * 1024 ** 3;
/** Answers to a conditional write: the condition does not hold; another write of the key is under way. */
const REFUSED = [409, 412];
const CHECKSUM = "x-amz-checksum-sha256";

/** Objects in one S3 bucket. The service checks every body against the hash that the request carries. */
export class S3ObjectStore implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  async create(key: string, body: ObjectBody): Promise<"created" | "same" | "differs"> {
    if (body.sizeBytes > MAX_PUT_BYTES) {
      throw new BenchError(
        "config",
        `${key} has ${body.sizeBytes} bytes, S3 takes ${MAX_PUT_BYTES}`,
        {
          next: "let the task write smaller files",
        },
      );
    }
    const checksum = Buffer.from(body.sha256, "hex").toString("base64");
    const answer = await this.#send(key, `write ${key}`, {
      method: "PUT",
      headers: { "if-none-match": "*", [CHECKSUM]: checksum },
      body,
      accept: REFUSED,
    });
    await drain(answer);
    if (answer.ok) return "created";
    return (await this.#checksumOf(key)) === checksum ? "same" : "differs";
  }

  async replace(key: string, bytes: Uint8Array, expected: string | null): Promise<string | null> {
    const answer = await this.#send(key, `replace ${key}`, {
      method: "PUT",
      headers: expected === null ? { "if-none-match": "*" } : { "if-match": expected },
      body: bytes,
      // Someone may have removed what was to be replaced.
      accept: [...REFUSED, 404],
    });
    await drain(answer);
    return answer.ok ? said(answer.headers.get("etag"), `the version of ${key}`) : null;
  }

  async open(key: string, unless?: string): Promise<OpenObject | null> {
    const answer = await this.#send(key, `read ${key}`, {
      method: "GET",
      headers: unless === undefined ? {} : { "if-none-match": unless },
      accept: [304, 404],
    });
    if (!answer.ok) {
      if (textOf(await answer.text(), "Code") === "NoSuchBucket") throw this.#noBucket();
      return null;
    }
    return {
      key,
      sizeBytes: Number(said(answer.headers.get("content-length"), `the size of ${key}`)),
      version: said(answer.headers.get("etag"), `the version of ${key}`),
      bytes: bodyBytes(answer, key),
    };
  }

  async *list(prefix: string): AsyncGenerator<FoundObject> {
    let token: string | null = null;
    do {
      const query = new URLSearchParams({ "list-type": "2", "encoding-type": "url", prefix });
      if (token !== null) query.set("continuation-token", token);
      const path = `?${query.toString().replaceAll("+", "%20")}`;
      const answer = await this.#send(null, `list ${prefix}`, { method: "GET", path });
      const xml = await answer.text();
      for (const entry of elementsOf(xml, "Contents")) {
        yield {
          key: decodeURIComponent(said(textOf(entry, "Key"), "a key").replaceAll("+", " ")),
          sizeBytes: Number(said(textOf(entry, "Size"), "a size")),
          version: said(textOf(entry, "ETag"), "a version"),
        };
      }
      const goesOn =
        said(textOf(xml, "IsTruncated"), `whether the list of ${prefix} is whole`) === "true";
      token = goesOn
        ? said(textOf(xml, "NextContinuationToken"), `how the list of ${prefix} goes on`)
        : null;
    } while (token !== null);
  }

  async remove(key: string): Promise<void> {
    await drain(await this.#send(key, `remove ${key}`, { method: "DELETE" }));
  }

  /** Of the object that is there, as base64; read and hashed where the service kept none. */
  async #checksumOf(key: string): Promise<string | null> {
    const head = await this.#send(key, `look at ${key}`, {
      method: "HEAD",
      headers: { "x-amz-checksum-mode": "ENABLED" },
      accept: [404],
    });
    const stored = head.headers.get(CHECKSUM);
    if (stored !== null || !head.ok) return stored;
    const found = await this.open(key);
    if (found === null) return null;
    const hash = createHash("sha256");
    for await (const chunk of found.bytes) hash.update(chunk);
    return hash.digest("base64");
  }

  async #send(
    key: string | null,
    doing: string,
    request: Omit<S3Request, "path"> & { readonly path?: string },
  ): Promise<Response> {
    const below = key === null ? "" : `/${key.split("/").map(escapeUri).join("/")}`;
    const path = `/${this.#bucket}${below}${request.path ?? ""}`;
    try {
      return await this.#client.send({ ...request, path });
    } catch (error) {
      if (error instanceof AwsError && error.code === "NoSuchBucket") throw this.#noBucket();
      throw awsFailure(error, doing);
    }
  }

  #noBucket(): BenchError {
    return new BenchError("unavailable", `there is no bucket ${this.#bucket}`, {
      next: "`bench cloud deploy` makes it",
    });
  }
}

/** What every answer of the service says. One that does not is no answer of it, and is not guessed at. */
function said(value: string | null, what: string): string {
  if (value !== null) return value;
  throw new BenchError("unavailable", `S3 did not say ${what}`, {
    next: "check AWS_ENDPOINT_URL, then run the same command again",
  });
}

/** An answer that nobody reads keeps its connection. */
async function drain(answer: Response): Promise<void> {
  await answer.arrayBuffer();
}

async function* bodyBytes(answer: Response, key: string): ByteStream & AsyncGenerator<Uint8Array> {
  if (answer.body === null) return;
  try {
    yield* answer.body;
  } catch (error) {
    throw awsFailure(error, `read ${key}`);
  }
}
