/** Returns uniform bytes from the system's CSPRNG. */
export type RandomBytes = (bytes: number) => Uint8Array

type SecretKind = 'ingest' | 'api_key'

/** The prefix of each kind of secret (T-1). Both have the same length. */
export const secretPrefixes: Readonly<Record<SecretKind, string>> = { ingest: 'psin_', api_key: 'psak_' }

/** Matches both kinds of secret anywhere in a text, for secret scanners. */
export const secretScannerPattern = 'ps(?:in|ak)_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = ALPHABET.length
/** The largest multiple of 62 in a byte. Bytes from here on would make the first letters more likely (T-2). */
const FIRST_BIASED_BYTE = 248

const ID_START = 5
const ID_LENGTH = 12
const ID_END = ID_START + ID_LENGTH
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const CHECKSUM_START = ID_END + 1 + SECRET_LENGTH
const SECRET_TEXT_LENGTH = CHECKSUM_START + CHECKSUM_LENGTH
const UNDERSCORE = 0x5f

const NO_DIGIT = 255
const digitByCode = new Uint8Array(128).fill(NO_DIGIT)
for (let digit = 0; digit < BASE; digit += 1) digitByCode[ALPHABET.charCodeAt(digit)] = digit

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

/** Returns `length` base62 letters, each equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < FIRST_BIASED_BYTE && text.length < length) text += ALPHABET[byte % BASE]
    }
  }
  return text
}

/** Returns whether a text can be a public id. Others are not looked up, because PostgreSQL refuses some, such as U+0000. */
export const isPublicId = (text: string): boolean => /^[\w-]{1,64}$/.test(text)

/** Returns 43 random letters (256 bits), for secrets that no person types and no scanner has to find. */
export const newPlainSecret = (randomBytes: RandomBytes): string => randomBase62(SECRET_LENGTH, randomBytes)

/** Returns whether a text has the form of {@link newPlainSecret}. */
export const isPlainSecret = (text: string): boolean => /^[0-9A-Za-z]{43}$/.test(text)

interface NewSecret {
  /** The public id, which may be shown and logged. */
  readonly id: string
  readonly text: string
}

/** Generates a secret: prefix, public id of 12 letters, `_`, 43 random letters (256 bits), checksum of 6 letters (T-1, T-2). */
export function newSecretText(kind: SecretKind, randomBytes: RandomBytes): NewSecret {
  const id = randomBase62(ID_LENGTH, randomBytes)
  const body = `${secretPrefixes[kind]}${id}_${randomBase62(SECRET_LENGTH, randomBytes)}`
  return { id, text: body + checksumText(crc32(body, body.length)) }
}

/** Returns the id in a well-formed text with the right checksum, or `undefined`. It does not verify the secret (T-3). */
export function parseSecretText(kind: SecretKind, text: string): { readonly id: string } | undefined {
  if (text.length !== SECRET_TEXT_LENGTH || !text.startsWith(secretPrefixes[kind])) return undefined
  if (text.charCodeAt(ID_END) !== UNDERSCORE) return undefined
  let checksum = 0
  for (let at = ID_START; at < SECRET_TEXT_LENGTH; at += 1) {
    if (at === ID_END) continue
    const code = text.charCodeAt(at)
    const digit = code < 128 ? digitByCode[code]! : NO_DIGIT
    if (digit === NO_DIGIT) return undefined
    if (at >= CHECKSUM_START) checksum = checksum * BASE + digit
  }
  return checksum === crc32(text, CHECKSUM_START) ? { id: text.slice(ID_START, ID_END) } : undefined
}

/** Returns whether a text has one of our prefixes. Such a text is never treated as an imported token. */
export const hasSecretPrefix = (text: string): boolean =>
  text.startsWith(secretPrefixes.ingest) || text.startsWith(secretPrefixes.api_key)

/** Returns the CRC-32 of the first `length` characters, which must be ASCII. */
function crc32(text: string, length: number): number {
  let crc = 0xffffffff
  for (let at = 0; at < length; at += 1) crc = (crc >>> 8) ^ crcTable[(crc ^ text.charCodeAt(at)) & 0xff]!
  return (crc ^ 0xffffffff) >>> 0
}

function checksumText(crc: number): string {
  let text = ''
  for (let rest = crc; rest > 0; rest = Math.floor(rest / BASE)) text = ALPHABET[rest % BASE] + text
  return text.padStart(CHECKSUM_LENGTH, ALPHABET[0])
}
