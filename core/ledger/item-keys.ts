/** Each item of a pot has a key of its own, so that DynamoDB spreads them over partitions. */
export function headKey(pot: string): string {
  return `${pot}/head`;
}

export function shardKey(pot: string, shard: number): string {
  return `${pot}/shard/${String(shard)}`;
}

export function attemptKey(pot: string, attempt: string): string {
  return `${pot}/attempt/${attempt}`;
}
