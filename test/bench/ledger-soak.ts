/**
 * Issue 4, "It must show" 3: 10,000 simulated sweeps with racing trials, crashes, late usage and a table that
 * answers badly. Prints what they came to and keeps it as results/ledger-soak.json; exit 1 when a promise
 * was broken. The unit tests run a twentieth of it, the soak suite all.
 *
 *   npx tsx test/bench/ledger-soak.ts [sweeps] [first seed]
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { soakSweeps } from "../core/ledger/soak-sweeps.ts";

const [sweeps = 10_000, firstSeed = 1] = process.argv.slice(2).map(Number);

const startMs = performance.now();
const { breaches, overshoot, doubled, attempts, writes, virtualHours } = await soakSweeps({
  firstSeed,
  sweeps,
});
const text = JSON.stringify(
  {
    bench: "ledger-soak",
    command: `npx tsx test/bench/ledger-soak.ts ${String(sweeps)} ${String(firstSeed)}`,
    measured_at: new Date().toISOString().slice(0, 10),
    machine: `${String(cpus().length)} cores, Node.js ${process.version}`,
    first_seed: firstSeed,
    sweeps,
    breaches,
    overshoot,
    writes_that_happened_twice: doubled,
    attempts,
    ledger_writes: writes,
    virtual_hours: Math.round(virtualHours),
    seconds: Math.round((performance.now() - startMs) / 1000),
  },
  null,
  2,
);
writeFileSync(new URL("results/ledger-soak.json", import.meta.url), `${text}\n`);
console.log(text);
if (breaches.length > 0) process.exitCode = 1;
