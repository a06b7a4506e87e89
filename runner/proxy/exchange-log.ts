import type { AppendFile } from "../../core/ports/attempt-folder.ts";
import { messageOf } from "../../core/errors.ts";
import type { Exchange, RequestRow } from "../../core/model/exchange.ts";
import type { ExchangeSink } from "./proxy-options.ts";

/**
 * Writes trajectory/llm_trajectory.jsonl and trajectory/requests.jsonl line by line as requests end,
 * one line after the other. A failure is told once; the lines that could not be written are counted.
 */
export class ExchangeLog implements ExchangeSink {
  readonly #exchanges: AppendFile;
  readonly #rows: AppendFile;
  readonly #onFailure: (message: string) => void;
  readonly #encoder = new TextEncoder();
  #last: Promise<void> = Promise.resolve();
  #failed = 0;

  constructor(
    files: { readonly exchanges: AppendFile; readonly rows: AppendFile },
    onFailure: (message: string) => void,
  ) {
    this.#exchanges = files.exchanges;
    this.#rows = files.rows;
    this.#onFailure = onFailure;
  }

  /** Lines that could not be written. */
  get failedLines(): number {
    return this.#failed;
  }

  write(row: RequestRow, exchange: Exchange): void {
    const lines = [
      [this.#rows, this.#encode(row)],
      [this.#exchanges, this.#encode(exchange)],
    ] as const;
    const earlier = this.#last;
    this.#last = (async () => {
      await earlier;
      for (const [file, line] of lines) await this.#append(file, line);
    })();
  }

  /** Resolves when all lines are written and the files closed. */
  async close(): Promise<void> {
    await this.#last;
    await this.#rows.close();
    await this.#exchanges.close();
  }

  async #append(file: AppendFile, line: Uint8Array): Promise<void> {
    try {
      await file.append(line);
    } catch (thrown) {
      this.#failed += 1;
      if (this.#failed === 1) this.#onFailure(messageOf(thrown));
    }
  }

  #encode(line: unknown): Uint8Array {
    return this.#encoder.encode(`${JSON.stringify(line)}\n`);
  }
}
