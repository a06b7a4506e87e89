import * as z from "zod";

const EngineEvent = z.looseObject({
  stream: z.string().optional(),
  status: z.string().optional(),
  id: z.string().optional(),
  error: z.string().optional(),
  /** `code` is the exit code of the build step that failed. */
  errorDetail: z
    .looseObject({ message: z.string().optional(), code: z.number().optional() })
    .optional(),
  aux: z.unknown().optional(),
});

/** One event of a build, pull or load: text for people, a result, or the error that ends it. */
export type EngineEvent = z.infer<typeof EngineEvent>;

/** Longest event that is taken; a build step can print lines of any length. */
const MAX_EVENT_BYTES = 4 * 1024 * 1024;

/**
 * Reads the JSON events of a build or pull. They arrive under status 200 whatever happens: an
 * `error` event is the only sign of failure, so callers must look at each one. Events may be split
 * and joined by the transport at any byte.
 */
export async function* readEvents(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<EngineEvent, void, undefined> {
  let rest = Buffer.alloc(0);
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      const line = rest.subarray(0, end);
      rest = rest.subarray(end + 1);
      if (line.toString("utf8").trim() !== "") yield parseEvent(line);
    }
    if (rest.byteLength > MAX_EVENT_BYTES)
      throw new Error(`docker sent an event of more than ${String(MAX_EVENT_BYTES)} bytes`);
  }
  if (rest.toString("utf8").trim() !== "") yield parseEvent(rest);
}

function parseEvent(line: Buffer): EngineEvent {
  const text = line.toString("utf8");
  try {
    return EngineEvent.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`docker sent an event that is not one: ${JSON.stringify(text.slice(0, 200))}`, {
      cause: error,
    });
  }
}
