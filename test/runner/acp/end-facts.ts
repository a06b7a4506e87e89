import type { EndFacts } from "../../../runner/acp/agent-end.ts";

/** An agent that was asked, did something, and still runs. */
export const FACTS: EndFacts = {
  exitCode: null,
  hasActivity: true,
  isPrompted: true,
  oomKills: 0,
  wallSec: 900,
  idleSec: 60,
};
