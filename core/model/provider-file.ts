import * as z from "zod";
import { ModelProtocol } from "./exchange.ts";
import { PriceEntry } from "./usage-price-file.ts";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u;

/** A key crosses a network in TLS alone; without it it stays on this machine. */
function isSafeBase(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  const isPlain = username === "" && password === "" && hash === "";
  return isPlain && (protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname)));
}

const BaseUrl = z
  .string()
  .max(2048)
  .refine(isSafeBase, "no https URL, nor an http one of this machine, without user and fragment");

/** One dialect of an own provider: what stands before the protocol's own path. */
const Endpoint = z.strictObject({
  protocol: ModelProtocol,
  base_url: BaseUrl,
  key_header: z.enum(["bearer", "x-api-key", "x-goog-api-key", "api-key"]).default("bearer"),
});

const OwnProvider = z
  .strictObject({
    /** What stands before the model's name in `-m`. */
    prefix: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/u, "no prefix of a provider"),
    /** The variable that holds its key; null for a server that needs none. It is not read from .env. */
    key_env: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]{0,99}_(?:KEY|TOKEN)$/u, "no name of a key: MY_API_KEY, MY_TOKEN")
      .nullable(),
    /** Best first. */
    endpoints: z.array(Endpoint).min(1).max(4),
    /** The models that it has; empty: whatever it is asked for. */
    models: z.record(z.string().min(1).max(200), PriceEntry.nullable()).default({}),
    /** Where the prices come from, and when that was read. */
    price_source: z.string().min(1).nullable().default(null),
    price_date: z.iso
      .date('no date such as "2026-11-30"; in YAML it stands in quotes')
      .nullable()
      .default(null),
  })
  .refine(
    ({ endpoints }) => new Set(endpoints.map((each) => each.protocol)).size === endpoints.length,
    {
      error: "one dialect stands twice",
      path: ["endpoints"],
    },
  )
  .refine(
    ({ models, price_source: source, price_date: date }) =>
      Object.values(models).every((price) => price === null) || (source !== null && date !== null),
    { error: "prices need price_source and price_date", path: ["models"] },
  );
export type OwnProvider = z.infer<typeof OwnProvider>;

/** Providers of a person's own (`--provider-file FILE`). Prices in US dollars per million tokens. */
export const ProviderFile = z.strictObject({
  version: z.literal(1),
  providers: z.array(OwnProvider).min(1).max(50),
});
export type ProviderFile = z.infer<typeof ProviderFile>;
