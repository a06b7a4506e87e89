// A process that works on a pot until it is killed: `hammer-pot.ts <dir> <name> <trials>`. Every call
// is written to `<dir>/../spent-<name>` before the provider would be asked, with what it costs.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { amountOf } from "../../../core/ledger/amounts.ts";
import { NO_CAPS } from "../../../core/ledger/caps.ts";
import { createLedger } from "../../../core/ledger/create-ledger.ts";
import { openTrialAccount } from "../../../core/ledger/trial-account.ts";
import { identifyProcess } from "../../../host/process-identity.ts";
import { systemClock } from "../../../host/system-clock.ts";
import { openFilesLedger } from "../../../stores/ledger/files/files-ledger-store.ts";
import { processDeaths } from "../../../stores/ledger/files/process-deaths.ts";

const [dir = "", name = "", trials = "0"] = process.argv.slice(2);
const log = join(dir, "..", `spent-${name}`);
const store = await openFilesLedger({ dir, compactBytes: 20_000 });
const ledger = createLedger({ store, pot: "pot", deaths: processDeaths });
const limits = { signal: new AbortController().signal, patienceMs: 10_000 };
const worst = amountOf({ microUsd: 100, tokens: 10 });
process.stdout.write("ready\n");

for (let trial = 0; trial < Number(trials); trial += 1) {
  const attempt = `${name}-${String(trial)}`;
  const holder = identifyProcess();
  const claim = { token: attempt, holder };
  const least = { ...worst, rollouts: 1 };
  const request = { attempt, by: attempt, order: trial, setting: "s", trialCaps: NO_CAPS };
  const admission = await ledger.admit({ ...request, least, claim });
  if (admission.kind !== "admitted") {
    await systemClock.sleep(5);
    continue;
  }
  const owner = { open: admission.open, token: attempt, holder, trialCaps: NO_CAPS };
  const account = openTrialAccount({ ledger, clock: systemClock }, owner);
  for (let call = 0; call < 3; call += 1) {
    const reserved = await account.reserve(worst, limits);
    if (reserved.kind !== "granted") break;
    const cost = 40 + ((trial + call) % 60);
    appendFileSync(log, `${attempt} ${String(cost)}\n`);
    await account.settle(reserved.call, amountOf({ microUsd: cost, tokens: 5 }));
  }
  await account.close({ complete: true, unpriced: false });
  appendFileSync(log, `${attempt} closed\n`);
}
await store.close();
