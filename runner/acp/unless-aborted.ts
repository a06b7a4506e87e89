/** Rejects with the signal's reason as soon as it is aborted; the work itself goes on, to be ended. */
export async function unlessAborted<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  signal.throwIfAborted();
  const listening = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const { signal: until } = listening;
    signal.addEventListener("abort", () => reject(signal.reason), { signal: until });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    listening.abort();
  }
}
