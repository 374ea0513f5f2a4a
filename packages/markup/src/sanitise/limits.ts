/** The limits on one text and on the threads that render. */
export interface MarkupLimits {
  /** The length of a text to render in UTF-8. */
  readonly maxTextBytes: number
  /** The length of a file to highlight in UTF-8. */
  readonly maxFileBytes: number
  /** The length of the HTML in UTF-8, without the links of references. */
  readonly maxHtmlBytes: number
  /** How deeply elements may be nested. */
  readonly maxDepth: number
  readonly maxElements: number
  /** The number of different references in a text that are looked up; later ones stay text. */
  readonly maxReferences: number
  /** The length up to which source code is highlighted; longer code is only escaped. */
  readonly maxHighlightedBytes: number
  /** The time that a thread may spend on one text. */
  readonly maxTaskMs: number
  readonly threads: number
  /** The number of texts that may wait for a thread. */
  readonly maxWaiting: number
  readonly maxHeapMegabytes: number
}

const MIB = 1_048_576

export const defaultLimits: MarkupLimits = {
  maxTextBytes: 5 * MIB,
  maxFileBytes: 20 * MIB,
  maxHtmlBytes: 40 * MIB,
  maxDepth: 200,
  maxElements: 300_000,
  maxReferences: 1_000,
  maxHighlightedBytes: MIB / 2,
  maxTaskMs: 10_000,
  threads: 2,
  maxWaiting: 100,
  maxHeapMegabytes: 512,
}
