import type { CardSampling } from "../model/run-card.ts";
import { escapeMarkdown } from "./report-texts.ts";

/** What servers have defaults for that change answers most. */
const DEFAULTED = ["temperature", "top_p"];

/** The Sampling line (spec 1.10), from the requests as they were recorded. */
export function renderSampling(sampling: CardSampling): string {
  const { requests, unrecorded_trials: unrecorded } = sampling;
  if (requests === 0) {
    return unrecorded > 0
      ? "Sampling: unknown, since no model request was recorded."
      : "Sampling: no model request was sent.";
  }
  const sent = sampling.parameters.map(renderParameter);
  const unsent = DEFAULTED.filter((name) => !sampling.parameters.some((one) => one.name === name));
  const tail =
    unsent.length === 0
      ? []
      : [`no ${unsent.join(" or ")} sent, so the model server's default applies`];
  const rest = unrecorded === 0 ? "" : ` The requests of ${unrecorded} trials were not recorded.`;
  return (
    "Sampling the model requests carried (the first 20 of each trial, with how many sent each value): " +
    `${[...sent, ...tail].join("; ")}.${rest}`
  );
}

/** `max_tokens 32000 (6), not sent (2)`. */
function renderParameter({
  name,
  values,
  not_sent: notSent,
}: CardSampling["parameters"][number]): string {
  const shown = values.map(
    ({ value, requests }) => `${escapeMarkdown(String(value))} (${requests})`,
  );
  const missing = notSent === 0 ? [] : [`not sent (${notSent})`];
  return `${name} ${[...shown, ...missing].join(", ")}`;
}
