import { maskRandomWords } from './random-words.ts'
import { secretForms } from './secret-forms.ts'

/** The replacement of a secret: the text with which GitLab replaces masked variables. */
export const MASK = '[MASKED]'

/** Values that are no secrets, and what the forge has masked. */
const noSecret = /^(?:true|false|null|nil|none|undefined|\[MASKED\]|\*+|\[\]|\{\}?)$/i

/** Returns the text with `MASK` in place of the secrets in it: those of `secretForms`, and long random words. */
export function maskSecrets(text: string): string {
  let masked = text
  for (const { pattern } of secretForms) masked = masked.replace(pattern, replaceSecret)
  return maskRandomWords(masked, MASK)
}

/** Returns the match of a form with its secret masked: that of its named group, else all of it. */
function replaceSecret(match: string, ...rest: unknown[]): string {
  const last = rest.at(-1)
  if (typeof last !== 'object' || last === null) return MASK
  const secret = Object.values(last as Record<string, string | undefined>).find((value) => value !== undefined)
  if (secret === undefined || noSecret.test(secret)) return match
  const at = match.lastIndexOf(secret)
  return match.slice(0, at) + MASK + match.slice(at + secret.length)
}

const keyStart = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const keyEnd = /-----END [A-Z0-9 ]{0,40}-----/
/** The maximum number of lines of a private key. Further lines are no longer taken for a part of it. */
const MAX_KEY_LINES = 200

/** Removes private keys of several lines. No form recognises the later lines of a key. */
export class PrivateKeys {
  #linesLeft = 0

  /** Returns the line without the part that belongs to a key; `undefined` for a line within a key. */
  mask(line: string): string | undefined {
    if (this.#linesLeft > 0) {
      const end = keyEnd.exec(line)
      this.#linesLeft = end === null ? this.#linesLeft - 1 : 0
      return end === null ? undefined : MASK + line.slice(end.index + end[0].length)
    }
    const start = keyStart.exec(line)
    if (start !== null && !keyEnd.test(line.slice(start.index))) this.#linesLeft = MAX_KEY_LINES
    return line
  }
}
