import * as z from "zod";
import { ModelProtocol } from "./exchange.ts";

/** A name as people type it after `-a`. */
const AgentName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/u, "no name of an agent");

/** Exact, so that a result says which program it measured. */
const ExactVersion = z.string().regex(/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/u, "no exact version");

const PackageName = z
  .string()
  .regex(/^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/u, "no name of an npm package");

/** Below the agent's home: no way up, no absolute path. */
const HomePath = z
  .string()
  .max(1024)
  .regex(/^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\p{Cc}]+$/u, "no relative path below a home");

/** What the system takes as a word of a command line or a value of a variable. */
const Word = z
  .string()
  .max(32_768)
  .regex(/^[^\0]*$/u, "no text that a program can be given");

const Variable = z.string().regex(/^[A-Za-z_]\w*$/u, "no name of a variable");

/** A subscription whose login of this machine can stand for a provider's key (spec 9.4). */
export const LoginKind = z.enum(["claude", "codex"]);
export type LoginKind = z.infer<typeof LoginKind>;

/**
 * A file that is put into the agent's home before it starts. `content` is text, or a value to be
 * written as JSON. `withEffort` stands before the text when an effort was asked for.
 */
const HomeFile = z.strictObject({
  path: HomePath,
  content: z.union([z.string().max(1_048_576), z.record(z.string(), z.json())]),
  withEffort: z.string().max(65_536).default(""),
  executable: z.boolean().default(false),
});
export type HomeFile = z.infer<typeof HomeFile>;

/** A call of the agent's own after the session is made; its `sessionId` is added. */
const SessionCall = z.strictObject({
  method: z.string().regex(/^[\w$/.-]{1,100}$/u, "no name of a method"),
  params: z.record(z.string(), z.json()).default({}),
});

/**
 * An agent as data: what is installed, how it is started, how it is told its model. Every text may
 * hold `{origin}`, `{base}` (the origin as its dialect's clients take it), `{token}`, `{model}`, `{protocol}`, `{effort}`, `{home}`, `{workdir}`, `{tree}` (its programs),
 * `{node}` (the private Node), `{contextTokens}` and `{maxOutputTokens}`; `{quoted:NAME}` is the same
 * as a quoted JSON string, which is TOML's too. A text that is one such word for a number is a number.
 */
export const AgentDefinition = z.strictObject({
  name: AgentName,
  aliases: z.array(AgentName).default([]),
  /** npm packages and their exact versions. */
  packages: z.record(PackageName, ExactVersion).default({}),
  /** OCI platforms that its packages have programs for. */
  platforms: z
    .array(z.enum(["linux/amd64", "linux/arm64"]))
    .min(1)
    .default(["linux/amd64"]),
  /** The dialects that it can be set to speak to its model, best first. */
  protocols: z.tuple([ModelProtocol], ModelProtocol),
  /** Models that it asks for on its own account, served by the run's model. */
  modelAliases: z.array(z.string()).default([]),
  /** The login that its requests may be paid by; for agents of this edition alone. */
  login: LoginKind.nullable().default(null),
  argv: z.tuple([Word.min(1)], Word),
  env: z.record(Variable, Word).default({}),
  files: z.array(HomeFile).default([]),
  /** The method for ACP `authenticate`, where the agent wants that call. */
  authenticate: z.string().nullable().default(null),
  /** `_meta` of `session/new`. */
  sessionMeta: z.record(z.string(), z.json()).default({}),
  /** The same for tasks without a network, so that the agent offers no tools that reach for the web. */
  sessionMetaOffline: z.record(z.string(), z.json()).nullable().default(null),
  /** After `session/new`, in order, before the first prompt. */
  calls: z.array(SessionCall).default([]),
  /** Config options (ACP `configOptions`) by which the agent must confirm its model and effort. */
  confirm: z
    .strictObject({ model: z.string().nullable(), effort: z.string().nullable() })
    .default({ model: null, effort: null }),
  /** How an effort is told: null for an agent that has none. `files` stands for `withEffort`. */
  effort: z
    .union([
      z.literal("files"),
      z.strictObject({ env: z.record(Variable, z.string()) }),
      z.strictObject({ option: z.string() }),
    ])
    .nullable()
    .default(null),
  /**
   * Where it looks for skills, below its home, and what `session/new` is then told besides; null for an
   * agent that finds none.
   */
  skills: z
    .strictObject({
      dirs: z.array(HomePath).min(1),
      sessionMeta: z.record(z.string(), z.json()).default({}),
    })
    .nullable()
    .default(null),
  /**
   * Whether it offers its model the tools of servers that `session/new` names; `untranslated` for one that
   * lets a tool of its own dialect find them, which a translation cannot carry.
   */
  mcpServers: z.union([z.boolean(), z.literal("untranslated")]).default(true),
  /** Whether it goes on with a running tool when its input ends, so that waiting for it is in vain. */
  ignoresEnd: z.boolean().default(false),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;
