import type { AssistantPart, ContentPart, ResultPart, Turn } from "./conversation.ts";

type AssistantTurn = { readonly role: "assistant"; readonly parts: AssistantPart[] };
type ToolsTurn = { readonly role: "tools"; readonly parts: ResultPart[] };
type UserTurn = { readonly role: "user"; readonly parts: readonly ContentPart[] };

/**
 * Puts a history in the one order that all providers take: what tools gave back comes right after the
 * turn that called them, all of it in one turn; neighbouring parts of the assistant are one turn.
 */
export class TurnBuilder {
  readonly system: string[] = [];
  readonly #turns: (AssistantTurn | ToolsTurn | UserTurn)[] = [];

  get turns(): readonly Turn[] {
    return this.#turns;
  }

  /** Instructions before the first turn are the system's; later ones go to the model as a user's turn. */
  addSystem(text: string): void {
    if (text === "") return;
    if (this.#turns.length === 0) this.system.push(text);
    else this.addUser([{ kind: "text", text }]);
  }

  addUser(parts: readonly ContentPart[]): void {
    const said = parts.filter((part) => part.kind !== "text" || part.text !== "");
    if (said.length > 0) this.#turns.push({ role: "user", parts: said });
  }

  addAssistant(parts: readonly AssistantPart[]): void {
    const said = parts.filter((part) => part.kind !== "text" || part.text !== "");
    if (said.length === 0) return;
    const last = this.#turns.at(-1);
    if (last?.role === "assistant") last.parts.push(...said);
    else this.#turns.push({ role: "assistant", parts: [...said] });
  }

  addResult(part: ResultPart): void {
    const called = this.#turns.findLastIndex(({ role }) => role === "assistant");
    const next = this.#turns[called + 1];
    if (next?.role === "tools") next.parts.push(part);
    else this.#turns.splice(called + 1, 0, { role: "tools", parts: [part] });
  }
}
