import { BenchError } from "../core/errors.ts";
import type { PotView } from "../core/model/ledger-pot.ts";
import type { Ledger } from "../core/ports/ledger.ts";

/** A ledger that was lost would count from 0 again, and the cap be spent twice. */
export async function checkKept(ledger: Pick<Ledger, "view">, job: string): Promise<PotView> {
  try {
    return await ledger.view();
  } catch (error) {
    if (!(error instanceof BenchError) || error.kind !== "config") throw error;
    throw lostLedger(job, error);
  }
}

export function lostLedger(job: string, cause?: BenchError): BenchError {
  return new BenchError("config", `what job ${job} has spent is not known: its ledger is gone`, {
    next: "restore the folder .ledger in its jobs folder, or start over with --fresh",
    cause,
  });
}
