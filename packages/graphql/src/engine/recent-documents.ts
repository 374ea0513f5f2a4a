import type { DocumentNode } from 'graphql'

/** A parsed document takes about 300 times the memory of its text. */
const MAX_CHARACTERS = 100_000

/** A cache of the documents that were used last, by their text. Clients send the same documents repeatedly. */
export class RecentDocuments {
  readonly #byText = new Map<string, DocumentNode>()
  #characters = 0

  get(text: string): DocumentNode | undefined {
    const document = this.#byText.get(text)
    if (document === undefined) return undefined
    // A map keeps insertion order, so its first entry is the least recently used one.
    this.#byText.delete(text)
    this.#byText.set(text, document)
    return document
  }

  add(text: string, document: DocumentNode): void {
    if (this.#byText.has(text)) return
    this.#byText.set(text, document)
    this.#characters += text.length
    for (const oldest of this.#byText.keys()) {
      if (this.#characters <= MAX_CHARACTERS) return
      this.#byText.delete(oldest)
      this.#characters -= oldest.length
    }
  }
}
