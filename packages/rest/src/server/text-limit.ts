import { type ReadLimit, ReadLimitExceeded } from '@penstock/core'

/** The length of texts that are kept, because they may be ids. */
const SHORT_LENGTH = 256
/** The part of the limit from which a text is long. */
const LONG_PART = 1 / 100

/**
 * Limits the texts that one request reads from the database and from repositories. Texts that the response does not show count too, because
 * they are in memory as well.
 */
export class TextLimit implements ReadLimit {
  readonly #maxCharacters: number
  readonly #cutsTexts: boolean
  #characters = 0
  #longTexts = 0

  /**
   * @param cutsTexts whether long texts beyond the limit are read as empty, until twice as many characters are read; otherwise they
   *   end the request
   */
  constructor(maxCharacters: number, cutsTexts = false) {
    this.#maxCharacters = maxCharacters
    this.#cutsTexts = cutsTexts
  }

  /** The number of long texts within the limit. */
  get longTexts(): number {
    return this.#longTexts
  }

  admit(text: string): string {
    const before = this.#characters
    this.#characters += text.length
    if (text.length >= this.#maxCharacters * LONG_PART && this.#characters <= this.#maxCharacters) this.#longTexts += 1
    if (this.#characters <= this.#maxCharacters) return text
    // The text that exceeds the limit is kept, because it may be the one that is too large.
    if (this.#cutsTexts && before <= this.#maxCharacters) return text
    if (this.#cutsTexts && this.#characters <= 2 * this.#maxCharacters) return text.length > SHORT_LENGTH ? '' : text
    throw new ReadLimitExceeded(`A request may read at most ${this.#maxCharacters} characters`)
  }
}
