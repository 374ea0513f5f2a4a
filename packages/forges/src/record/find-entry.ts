/** Returns the entry for an untrusted word. Inherited properties such as `constructor` are no entries. */
export function findEntry<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined
}
