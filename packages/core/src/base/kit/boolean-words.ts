const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  t: true,
  yes: true,
  y: true,
  on: true,
  1: true,
  false: false,
  f: false,
  no: false,
  n: false,
  off: false,
  0: false,
}

/** Returns the boolean that a text means, in any case; `undefined` for every other text. */
export function parseBoolean(text: string): boolean | undefined {
  const word = text.toLowerCase()
  return Object.hasOwn(booleans, word) ? booleans[word] : undefined
}
