/** Tells whether a part of an expression accepts a character. */
export type Accepts = (character: string) => boolean
/** Tells whether a condition holds between two characters. */
export type Holds = (before: string | undefined, after: string | undefined) => boolean

export const isFirst: Holds = (before) => before === undefined
export const isLast: Holds = (_, after) => after === undefined
const isWord = (character: string | undefined): boolean => character !== undefined && /^\w$/.test(character)

export const conditions: Readonly<Record<string, Holds>> = {
  A: isFirst,
  z: isLast,
  b: (before, after) => isWord(before) !== isWord(after),
  B: (before, after) => isWord(before) === isWord(after),
}

export const classes: Readonly<Record<string, Accepts>> = {
  d: (character) => /^[0-9]$/.test(character),
  D: (character) => !/^[0-9]$/.test(character),
  s: (character) => /^[\t\n\f\r ]$/.test(character),
  S: (character) => !/^[\t\n\f\r ]$/.test(character),
  w: (character) => isWord(character),
  W: (character) => !isWord(character),
}

export const controls: Readonly<Record<string, string>> = { a: '\x07', f: '\f', t: '\t', n: '\n', r: '\r', v: '\v' }

export const namedClasses: Readonly<Record<string, RegExp>> = {
  alnum: /^[0-9A-Za-z]$/,
  alpha: /^[A-Za-z]$/,
  blank: /^[\t ]$/,
  digit: /^[0-9]$/,
  graph: /^[!-~]$/,
  lower: /^[a-z]$/,
  print: /^[ -~]$/,
  punct: /^[!-/:-@[-`{-~]$/,
  space: /^[\t\n\v\f\r ]$/,
  upper: /^[A-Z]$/,
  word: /^[0-9A-Za-z_]$/,
  xdigit: /^[0-9A-Fa-f]$/,
}

/** Returns a function that decides about the same character only once, although many states ask for it in turn. */
export function onceForEach(accepts: Accepts): Accepts {
  let latest: { readonly character: string; readonly isAccepted: boolean } | undefined
  return (character) => {
    if (latest?.character !== character) latest = { character, isAccepted: accepts(character) }
    return latest.isAccepted
  }
}
