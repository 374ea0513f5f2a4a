import type { DocumentNode } from 'graphql'

/** A document takes some 300 times its text. */
const MAX_CHARACTERS = 100_000

/** Documents by their texts, those that were asked for last: clients send the same ones again and again. */
export class RecentDocuments {
  readonly #byText = new Map<string, DocumentNode>()
  #characters = 0

  get(text: string): DocumentNode | undefined {
    const document = this.#byText.get(text)
    if (document === undefined) return undefined
    // A map keeps its order: the first is the one that was asked for longest ago.
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
