const MAX_DOCUMENT_MS = 200
const MAX_TOTAL_MS = 1_000

/** The processor time that the documents of one request may take to validate: 200 ms each, and one second together. */
export class ValidationTime {
  #leftMs = MAX_TOTAL_MS

  /** The time for the next document. */
  get nextMs(): number {
    return Math.min(MAX_DOCUMENT_MS, this.#leftMs)
  }

  spend(ms: number): void {
    this.#leftMs -= ms
  }
}
