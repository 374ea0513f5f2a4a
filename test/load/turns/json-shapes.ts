/** The shapes of JSON that are most expensive for their size. Each returns one value of about `bytes` bytes. */
export const jsonShapes: Readonly<Record<string, (bytes: number) => string>> = {
  'empty objects': (bytes) => `[${repeated('{},', bytes)}{}]`,
  zeros: (bytes) => `[${repeated('0,', bytes)}0]`,
  'open brackets': (bytes) => repeated('[', bytes),
  'nested objects': (bytes) => repeated('{"a":', bytes),
  'one string of escapes': (bytes) => `"${repeated('\\u0001', bytes)}"`,
  'one long string': (bytes) => `"${repeated('a', bytes)}"`,
  'many keys': (bytes) => `{${Array.from({ length: Math.floor(bytes / 13) }, (_, index) => `"key${index}":0`).join()}}`,
  'one key many times': (bytes) => `{${repeated('"a":0,', bytes)}"a":0}`,
  'a huge number': (bytes) => repeated('1', bytes),
  'many huge numbers': (bytes) => `[${repeated(`${'9'.repeat(999)},`, bytes)}0]`,
}

export const repeated = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / piece.length))
