import { type JsonLimits, unlimitedJson } from '@penstock/json'
import { refuse } from './decode-error.ts'

/** The limits of a decoder for untrusted input. */
export interface DecodeLimits {
  /** The length of the body. Default 64 MiB, as the OTLP specification recommends. */
  readonly maxBytes: number
  /** The nesting of lists in an AnyValue; a plain value has depth 1. Default 32. */
  readonly maxDepth: number
  /**
   * The number of elements in all lists: spans, attributes, points, bucket counts, array values. A list element can be
   * two bytes long, so the length of the body does not bound the memory of the decoded model. Default one million.
   */
  readonly maxElements: number
}

export const defaultDecodeLimits: DecodeLimits = { maxBytes: 64 * 1024 * 1024, maxDepth: 32, maxElements: 1_000_000 }

/**
 * The highest allowed averages of containers and of values per list element of a request. An attribute has 2 containers
 * and up to 4 values. A span with a few attributes has 2.5 containers and 5 values for each of its elements.
 */
const CONTAINERS_PER_ELEMENT = 3
const VALUES_PER_ELEMENT = 8
/**
 * The number of lists and objects around one element. Each array or map within an AnyValue takes 4, and an exemplar's
 * attribute is 15 levels deep.
 */
const CONTAINERS_PER_LEVEL = 4
const CONTAINERS_AROUND_A_VALUE = 16
/** The number of containers and values that a request may always have, even if the caller allows few elements. */
const SMALL_REQUEST = 1_000

/**
 * Returns the limits on a JSON text. Within these limits, `JSON.parse` takes about as much memory as the decoded model.
 * Unknown members count too, because they are parsed before they are ignored.
 */
export function jsonLimits({ maxDepth, maxElements }: Pick<DecodeLimits, 'maxDepth' | 'maxElements'>): JsonLimits {
  return {
    ...unlimitedJson,
    containers: maxElements * CONTAINERS_PER_ELEMENT + SMALL_REQUEST,
    values: maxElements * VALUES_PER_ELEMENT + SMALL_REQUEST,
    depth: maxDepth * CONTAINERS_PER_LEVEL + CONTAINERS_AROUND_A_VALUE,
  }
}

/** The remaining limits during one decoding. */
export class DecodeBudget {
  readonly maxDepth: number
  readonly json: JsonLimits
  #elementsLeft: number

  constructor(limits: Partial<DecodeLimits>, bodyBytes: number) {
    const { maxBytes, maxDepth, maxElements } = { ...defaultDecodeLimits, ...limits }
    if (bodyBytes > maxBytes) refuse(`longer than ${maxBytes} bytes`)
    this.maxDepth = maxDepth
    this.json = jsonLimits({ maxDepth, maxElements })
    this.#elementsLeft = maxElements
  }

  takeElement(): void {
    this.#elementsLeft -= 1
    if (this.#elementsLeft < 0) refuse('too many list elements in one request')
  }

  /** Checks the `depth` of the AnyValue that is about to be read; 1 for a value that is not nested. */
  enter(depth: number): void {
    if (depth > this.maxDepth) refuse(`nested deeper than ${this.maxDepth} levels`)
  }
}
