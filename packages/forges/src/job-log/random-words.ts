/**
 * Recognises long words that no person writes: those with many changes between capitals, small letters and digits, and those of
 * hexadecimal digits. Hashes with a name before them (`sha256:…`, `commit …`) and ids with hyphens (UUID) are not secret.
 */

const words = /[\w+/=-]{20,}/g
const MIN_CHARACTERS = 20
const MIN_HEX_DIGITS = 32
/** The Shannon entropy in bits per character. English words have less in so few characters, repeated ones much less. */
const MIN_ENTROPY = 3
/** The share of neighbours in different classes of characters: random words have 0.4 or more, names of programs 0.1. */
const MIN_CHANGES = 0.27
const MIN_CHANGES_WITHOUT_CAPITALS = 0.2

const hashName = /(?:\bsha(?:1|256|384|512)[:-]|\bcommit |\brevision |\bHEAD is now at |\bChecking out |@)$/i
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const HASH_NAME_CHARACTERS = 20

/** Returns the text with `mask` in place of each random word. */
export function maskRandomWords(text: string, mask: string): string {
  return text.replace(words, (word, at: number) =>
    isRandom(word) && !hashName.test(text.slice(Math.max(0, at - HASH_NAME_CHARACTERS), at)) && !isNamedHash(word)
      ? mask
      : word,
  )
}

/** Returns whether a word begins with the name of its hash: `sha512-…`. */
const isNamedHash = (word: string): boolean => /^sha(?:1|256|384|512)-/i.test(word)

/** A path is random if one of its parts is; the text without slashes is judged too, because base64 contains slashes. */
function isRandom(word: string): boolean {
  if (uuid.test(word)) return false
  const parts = word.split('/')
  if (parts.some(isRandomPart)) return true
  const isPath = parts.length > 4 || parts.some((part) => /^[a-z]{3,}[\w-]*$|^$/.test(part))
  return !isPath && isRandomPart(parts.join(''))
}

/** Names with hyphens consist of words and numbers, which are left out. */
function isRandomPart(name: string): boolean {
  const part = name
    .split(/[-_]/)
    .filter((word) => !/^(?:[A-Z]?[a-z]{3,}|[A-Z]{2,}|\d{1,6})$/.test(word))
    .join('')
  const letters = part.replace(/[^A-Za-z0-9]/g, '')
  if (letters.length < MIN_CHARACTERS || !/\d/.test(part) || !/[A-Za-z]/.test(part)) return false
  if (/^[0-9a-f]+$/i.test(letters)) return letters.length >= MIN_HEX_DIGITS && entropy(letters) >= MIN_ENTROPY
  const isMixed = /[A-Z]/.test(part) && /[a-z]/.test(part)
  const changes = classChanges(letters) / (letters.length - 1)
  return changes >= (isMixed ? MIN_CHANGES : MIN_CHANGES_WITHOUT_CAPITALS) && entropy(letters) >= MIN_ENTROPY
}

/** Returns the number of characters that are of another class than the one before: capital, small letter, digit. */
function classChanges(text: string): number {
  let changes = 0
  for (let at = 1; at < text.length; at++) if (classOf(text, at) !== classOf(text, at - 1)) changes += 1
  return changes
}

function classOf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code < 58) return 0
  return code < 91 ? 1 : 2
}

/** Returns the Shannon entropy in bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
