import { folded } from '../rows/folded-text.ts'

/** The length of the parts of a text that are indexed. Words that are shorter cannot be found by the index. */
const PART_LENGTH = 3
/**
 * Parts are hashed to this many bits, so that a text has at most 32,768 tokens, whatever it contains, and storing the largest one
 * takes tens of milliseconds. Different parts may share a token, therefore each text that the index yields is compared.
 */
const TOKEN_BITS = 15
/** The number of tokens that a search looks up. More would take longer, and hardly narrow the result. */
const MAX_SEARCHED_TOKENS = 24

/** Returns the tokens of texts for the index, separated by spaces. Values that are not text have none. */
export function searchTokens(texts: readonly unknown[]): string {
  const seen = new Uint8Array(1 << TOKEN_BITS)
  for (const text of texts) {
    if (typeof text !== 'string') continue
    const compared = folded(text)
    for (let index = 0; index < partsIn(compared); index += 1) seen[tokenAt(compared, index)] = 1
  }
  const tokens: string[] = []
  seen.forEach((isPresent, token) => {
    if (isPresent === 1) tokens.push(token.toString(36))
  })
  return tokens.join(' ')
}

/**
 * Returns the search expression of FTS5 for texts that may contain all the words; `undefined` if every word is too short for the
 * index.
 */
export function searchExpression(words: readonly string[]): string | undefined {
  const tokens = [...new Set(words.flatMap((word) => tokensIn(folded(word))))]
  if (tokens.length === 0) return undefined
  const step = Math.max(1, tokens.length / MAX_SEARCHED_TOKENS)
  const some = Array.from({ length: Math.min(tokens.length, MAX_SEARCHED_TOKENS) }, (_, index) =>
    // Spread over the words, because neighbouring parts of a word often occur together.
    tokens[Math.floor(index * step)]!.toString(36),
  )
  return some.map((token) => `"${token}"`).join(' AND ')
}

/** Returns the token of the part that begins at an index of a text, in UTF-16 code units. */
function tokenAt(text: string, index: number): number {
  const first = Math.imul(text.charCodeAt(index), 0x9e3779b1) + text.charCodeAt(index + 1)
  const mixed = Math.imul(Math.imul(first, 0x85ebca6b) + text.charCodeAt(index + 2), 0xc2b2ae35)
  return mixed >>> (32 - TOKEN_BITS)
}

const tokensIn = (text: string): number[] => Array.from({ length: partsIn(text) }, (_, index) => tokenAt(text, index))

/** Returns the number of parts of a text. */
const partsIn = (text: string): number => Math.max(0, text.length - PART_LENGTH + 1)
