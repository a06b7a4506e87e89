import * as z from "zod";
import type { TrajectoryEvent } from "../model/trajectory.ts";

/** A trajectory as the training formats need it: who did what, in order. */
export type TrainingStep =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "thought"; readonly text: string }
  | {
      readonly kind: "tool";
      readonly id: string;
      readonly name: string;
      readonly title: string;
      readonly input: unknown;
      readonly output: string;
    };

/**
 * The steps of a trial. Where no prompt was sent (the controls), the task's instruction stands first
 * all the same: a row for training without its question would be of no use.
 */
export function trainingSteps(
  instruction: string,
  events: readonly TrajectoryEvent[],
): TrainingStep[] {
  const steps = events.flatMap((event) => toStep(event));
  const asked = steps.some((step) => step.kind === "user");
  return asked ? steps : [{ kind: "user", text: instruction }, ...steps];
}

function toStep(event: TrajectoryEvent): TrainingStep[] {
  switch (event.type) {
    case "user_message":
      return [{ kind: "user", text: event.text }];
    case "agent_message":
      return [{ kind: "message", text: event.text }];
    case "agent_thought":
      return [{ kind: "thought", text: event.text }];
    case "oracle":
      return [{ kind: "message", text: `[oracle: ${event.command}]` }];
    case "tool_call":
      return [
        {
          kind: "tool",
          id: event.tool_call_id,
          name: event.kind,
          title: event.title,
          input: event["raw_input"] ?? {},
          output: textOf(event.content),
        },
      ];
    case "agent_timeout":
    case "events_dropped":
      return [];
  }
}

const TextBlock = z.object({ content: z.object({ text: z.string() }) });

function textOf(content: readonly unknown[]): string {
  const texts = content.flatMap((block) => {
    const parsed = TextBlock.safeParse(block);
    return parsed.success ? [parsed.data.content.text] : [];
  });
  return texts.join("\n");
}
