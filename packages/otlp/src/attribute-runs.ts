import type { KeyValue } from './types.ts'

/** An attribute list and its encoded form. */
export interface AttributeRun<Encoded> {
  readonly attributes: readonly KeyValue[]
  readonly encoded: Encoded
}

/** The length of the shortest list that is stored. Encoding a shorter one again is faster than looking it up. */
const MIN_ATTRIBUTES = 16

/**
 * Stores the last encoded attribute list by identity. A log record has two attributes of its own, followed by the
 * attribute objects of its span:
 *
 *     span:                  [ a b c … z ]     encoded and stored
 *     log record:  [ level source a b c … z ]  ends with that list, which is copied
 *
 * Values of the model never change, so the same objects have the same bytes. One list is enough for a caller that sends
 * span and log record of a job one after the other. Storing more lists keeps young objects alive, which costs the garbage
 * collector more than the copies save.
 */
export class AttributeRuns<Encoded> {
  #last: AttributeRun<Encoded> | undefined

  /** Returns the stored list if `attributes` ends with it. */
  findSuffix(attributes: readonly KeyValue[]): AttributeRun<Encoded> | undefined {
    const run = this.#last
    return run !== undefined && endsWith(attributes, run.attributes) ? run : undefined
  }

  /** Stores a list. `encode` is called only if the list is long enough to be stored. */
  remember(attributes: readonly KeyValue[], encode: () => Encoded): void {
    if (attributes.length >= MIN_ATTRIBUTES) this.#last = { attributes, encoded: encode() }
  }
}

function endsWith(attributes: readonly KeyValue[], suffix: readonly KeyValue[]): boolean {
  const offset = attributes.length - suffix.length
  if (offset < 0) return false
  for (let index = 0; index < suffix.length; index += 1) {
    if (attributes[offset + index] !== suffix[index]) return false
  }
  return true
}
