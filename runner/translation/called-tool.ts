import { textOf } from "../../core/usage/json-view.ts";
import { TranslationError } from "./translation-error.ts";

/**
 * The name of a tool that a reply calls. Throws `TranslationError` where it says none: told on with an
 * empty one, the call would be a mistake of the agent's or of the model's.
 */
export function calledName(name: unknown): string {
  if (typeof name === "string" && name !== "") return name;
  throw new TranslationError("unreadable", "the reply has a tool call without a name");
}

/** A piece of a call's arguments; absent ones add nothing. Throws `TranslationError` for what is no text. */
export function argumentsPiece(value: unknown): string {
  const text = textOf(value ?? "");
  if (text !== null) return text;
  throw new TranslationError("unreadable", "the reply has a tool call whose arguments are no text");
}
