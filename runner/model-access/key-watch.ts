import type { RequestRow } from "../../core/model/exchange.ts";

/** Spec 2.6's words: the fingerprint, and that one refusal is enough where nothing has succeeded yet. */
const REFUSED = "api-error circuit breaker open ([auth:401] x1 consecutive)";

/**
 * What the trials of one command know of the provider's key. They all use the same one, so a first 401
 * before any answer says of every trial what agents would each find out in a minute of tries. After a
 * success a 401 may pass, and only the breaker that counts trials in a row decides (attack 9).
 */
export class KeyWatch {
  readonly #refused = new AbortController();
  readonly #isWatching: boolean;
  #hasWorked = false;

  /** `threshold` of the breaker; 0, which switches it off, switches this off too. */
  constructor(threshold: number) {
    this.#isWatching = threshold > 0;
  }

  /** Aborted, with one line as the reason, once no trial of the command can reach its model. */
  get refused(): AbortSignal {
    return this.#refused.signal;
  }

  /** Looks at a request that has ended. */
  note({ upstream_status: status }: Pick<RequestRow, "upstream_status">): void {
    if (status === null) return;
    if (status < 300) this.#hasWorked = true;
    if (status === 401 && this.#isWatching && !this.#hasWorked) this.#refused.abort(REFUSED);
  }
}
