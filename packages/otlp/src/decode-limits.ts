import { refuse } from './decode-error.ts'

/** What a decoder takes from a stranger. */
export interface DecodeLimits {
  /** Length of the body. Default 64 MiB, as the OTLP specification recommends. */
  readonly maxBytes: number
  /** Lists inside lists of an AnyValue; a plain value has depth 1. Default 32. */
  readonly maxDepth: number
  /**
   * Elements of all lists together: spans, attributes, points, bucket counts, array values. A list element can be two
   * bytes long, so the length of the body alone does not bound the memory it turns into. Default one million.
   */
  readonly maxElements: number
}

export const defaultDecodeLimits: DecodeLimits = { maxBytes: 64 * 1024 * 1024, maxDepth: 32, maxElements: 1_000_000 }

/** What is left of the limits during one decoding. */
export class DecodeBudget {
  readonly maxDepth: number
  #elementsLeft: number

  constructor(limits: Partial<DecodeLimits>, bodyBytes: number) {
    const { maxBytes, maxDepth, maxElements } = { ...defaultDecodeLimits, ...limits }
    if (bodyBytes > maxBytes) refuse(`longer than ${maxBytes} bytes`)
    this.maxDepth = maxDepth
    this.#elementsLeft = maxElements
  }

  takeElement(): void {
    this.#elementsLeft -= 1
    if (this.#elementsLeft < 0) refuse('too many list elements in one request')
  }

  /** `depth` of the AnyValue about to be read, 1 for one that stands in no other. */
  enter(depth: number): void {
    if (depth > this.maxDepth) refuse(`nested deeper than ${this.maxDepth} levels`)
  }
}
