import type { JsonRecord } from "../../core/usage/json-view.ts";

/** A request in no protocol of its own: read from the agent's, written in the provider's. */
export interface Conversation {
  readonly model: string;
  readonly stream: boolean;
  /** Instructions that stand before all turns. */
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
  readonly tools: readonly OfferedTool[];
  readonly toolChoice: ToolChoice;
  /** Null where the agent leaves it to the model. */
  readonly parallelCalls: boolean | null;
  readonly sampling: ConversationSampling;
  readonly reasoning: WantedReasoning;
  readonly answer: AnswerShape | null;
}

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
}

/** A picture: its bytes in base64, or where it lies. */
export interface ImagePart {
  readonly kind: "image";
  readonly source: { readonly mediaType: string; readonly data: string } | { readonly url: string };
  /** OpenAI's `detail`; null where none was asked for. */
  readonly detail: string | null;
}

export type ContentPart = TextPart | ImagePart;

export interface ResultPart {
  readonly kind: "result";
  readonly callId: string;
  readonly isError: boolean;
  readonly content: readonly ContentPart[];
}

/**
 * What the model thought. `seal` is the provider's proof that it did, which it wants back unchanged; a
 * hidden thought has nothing else.
 */
export interface ThoughtPart {
  readonly kind: "thought";
  readonly text: string;
  readonly seal: string | null;
  readonly isHidden: boolean;
}

export interface CallPart {
  readonly kind: "call";
  readonly id: string;
  readonly name: string;
  /** JSON text, as models write it; not always JSON. */
  readonly arguments: string;
  readonly seal: string | null;
}

export type AssistantPart = TextPart | ThoughtPart | CallPart;

export type Turn =
  | { readonly role: "user"; readonly parts: readonly ContentPart[] }
  /** What tools gave back; always right after the turn that called them. */
  | { readonly role: "tools"; readonly parts: readonly ResultPart[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] };

export interface OfferedTool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of its arguments. */
  readonly schema: JsonRecord;
}

export type ToolChoice = "auto" | "required" | "none" | { readonly name: string };

export interface ConversationSampling {
  readonly maxTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly seed: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  readonly stop: readonly string[];
}

/** How much the model should think: a word, a number of tokens, or neither. */
export interface WantedReasoning {
  readonly effort: string | null;
  readonly budgetTokens: number | null;
}

/** The form that the answer's text must have. */
export type AnswerShape =
  | { readonly kind: "json" }
  | { readonly kind: "schema"; readonly name: string; readonly schema: JsonRecord };

/** Thrown for what the provider's protocol has no words for; the message is for the agent. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";
}
