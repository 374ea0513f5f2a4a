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
export const searchTokens = (texts: readonly unknown[]): string => tokensIn(texts).map(toWord).join(' ')

/**
 * Returns the search expression of FTS5 for texts that may contain all the words; `undefined` if every word is too short for the
 * index.
 */
export function searchExpression(words: readonly string[]): string | undefined {
  const tokens = tokensIn(words)
  if (tokens.length === 0) return undefined
  // Tokens are hashes in order, so any choice is spread over all parts of the words.
  const step = Math.max(1, tokens.length / MAX_SEARCHED_TOKENS)
  return tokens
    .filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step))
    .map((token) => `"${toWord(token)}"`)
    .join(' AND ')
}

const toWord = (token: number): string => token.toString(36)

/** Returns the different tokens of the parts of texts, in ascending order. */
function tokensIn(texts: readonly unknown[]): number[] {
  const isPresent = new Uint8Array(1 << TOKEN_BITS)
  for (const text of texts) if (typeof text === 'string') addTokens(folded(text), isPresent)
  const tokens: number[] = []
  for (let token = 0; token < isPresent.length; token += 1) if (isPresent[token] === 1) tokens.push(token)
  return tokens
}

/**
 * Hashes each part of a text, and marks its token. Each character is read once, because a text of a megabyte is indexed in the turn
 * of the request that stores it.
 */
function addTokens(text: string, isPresent: Uint8Array): void {
  let first = text.charCodeAt(0)
  let second = text.charCodeAt(1)
  for (let index = PART_LENGTH - 1; index < text.length; index += 1) {
    const third = text.charCodeAt(index)
    const start = Math.imul(first, 0x9e3779b1) + second
    isPresent[Math.imul(Math.imul(start, 0x85ebca6b) + third, 0xc2b2ae35) >>> (32 - TOKEN_BITS)] = 1
    first = second
    second = third
  }
}
