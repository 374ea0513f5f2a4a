import type { KeyValue } from './types.ts'

/** An attribute list and what it was encoded to. */
export interface AttributeRun<Encoded> {
  readonly attributes: readonly KeyValue[]
  readonly encoded: Encoded
}

/** A shorter list is encoded again sooner than it is looked up. */
const MIN_ATTRIBUTES = 16

/**
 * Remembers the attribute list encoded last, by identity. A log record carries the attributes of its span, the very same
 * objects, behind two of its own:
 *
 *     span:                  [ a b c … z ]     encoded and remembered
 *     log record:  [ level source a b c … z ]  ends with that list: copied
 *
 * Values of the model never change, so the same objects mean the same bytes. One list is enough for a caller that sends
 * span and log record of a job one after the other; remembering more keeps young objects alive and costs the garbage
 * collector more than the copies save.
 */
export class AttributeRuns<Encoded> {
  #last: AttributeRun<Encoded> | undefined

  /** The remembered list, when `attributes` ends with it. */
  findSuffix(attributes: readonly KeyValue[]): AttributeRun<Encoded> | undefined {
    const run = this.#last
    return run !== undefined && endsWith(attributes, run.attributes) ? run : undefined
  }

  /** `encode` is called if the list is worth remembering. */
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
