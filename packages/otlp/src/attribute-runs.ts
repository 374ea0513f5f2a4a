import type { KeyValue } from './types.ts'

/** An attribute list and what it was encoded to. */
export interface AttributeRun<Encoded> {
  readonly attributes: readonly KeyValue[]
  readonly encoded: Encoded
}

/** A shorter list is encoded again sooner than it is looked up. */
const MIN_ATTRIBUTES = 16
/**
 * Attributes remembered at most, in all lists together: those of some 100 job spans. What is remembered outlives the
 * garbage collector's young generation, so more costs more than it saves.
 */
const CAPACITY = 4 * 1024

/**
 * Remembers encoded attribute lists by identity. A log record carries the attributes of its span, the very same
 * objects, behind two of its own:
 *
 *     span:                  [ a b c … z ]     encoded and remembered under z
 *     log record:  [ level source a b c … z ]  ends with z, and with the rest of that list: copied
 *
 * Values of the model never change, so the same objects mean the same bytes. When full, everything is forgotten.
 */
export class AttributeRuns<Encoded> {
  readonly #byLast = new Map<KeyValue, AttributeRun<Encoded>>()
  #size = 0

  /** The remembered list that `attributes` ends with. */
  findSuffix(attributes: readonly KeyValue[]): AttributeRun<Encoded> | undefined {
    if (attributes.length < MIN_ATTRIBUTES) return undefined
    const run = this.#byLast.get(attributes[attributes.length - 1] as KeyValue)
    return run !== undefined && endsWith(attributes, run.attributes) ? run : undefined
  }

  /** `encode` is called if the list is worth remembering. */
  remember(attributes: readonly KeyValue[], encode: () => Encoded): void {
    const { length } = attributes
    if (length < MIN_ATTRIBUTES || length > CAPACITY) return
    if (this.#size + length > CAPACITY) {
      this.#byLast.clear()
      this.#size = 0
    }
    this.#byLast.set(attributes[length - 1] as KeyValue, { attributes, encoded: encode() })
    this.#size += length
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
