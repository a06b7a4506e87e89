/** Runs one piece of work after the other, in the order they were handed in; one that fails stops none. */
export function queueWork(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    // The caller of `last` hears of its failure; here only its end counts.
    const ended = last.then(work, work);
    last = ended.catch(() => undefined);
    return await ended;
  };
}
