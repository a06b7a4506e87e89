import type { Admission, AdmitRequest } from "../model/ledger-request.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ledger } from "../ports/ledger.ts";

const POLL_MS = 250;

/**
 * Asks until the attempt is admitted, or never can be. A caller that asks for one trial after the
 * other starts them in plan order. Throws the signal's reason when it is aborted.
 */
export async function waitForAdmission(
  { ledger, clock }: { readonly ledger: Ledger; readonly clock: Clock },
  request: AdmitRequest,
  signal: AbortSignal,
): Promise<Exclude<Admission, { kind: "wait" }>> {
  for (;;) {
    signal.throwIfAborted();
    const admission = await ledger.admit(request);
    if (admission.kind !== "wait") return admission;
    await clock.sleep(POLL_MS, signal);
  }
}
