import type { CoreProcess } from './core-process.ts'
import type { Random } from './crash-writes.ts'

/** The pages of one writer: their contents by slug. */
export type PageStates = ReadonlyMap<string, string>

/** The pages of one writer; it removes one before it creates another. */
const MAX_PAGES = 6

/** Creates, changes, moves and removes pages of its own in one wiki, one after the other. Several writers run concurrently. */
export class WikiWriter {
  /** The acknowledged pages. */
  pages: PageStates = new Map()
  /** The pages after a write without an answer: they are these, or the acknowledged ones. */
  pending: PageStates | undefined
  /** The pages that were removed or moved have ids that no other page may get. */
  readonly ids = new Map<string, number>()
  readonly #path: string
  readonly #random: Random
  readonly name: string
  #count = 0

  constructor(groupId: number, random: Random, name: string) {
    this.#path = `/groups/${groupId}/wikis`
    this.#random = random
    this.name = name
  }

  async write(core: CoreProcess): Promise<void> {
    const slug = this.#oneOf([...this.pages.keys()])
    const chance = this.#random()
    if (slug === undefined || (chance < 0.3 && this.pages.size < MAX_PAGES)) await this.#create(core)
    else if (chance < 0.45) await this.#remove(core, slug)
    else if (chance < 0.55) await this.#fail(core, slug)
    else if (chance < 0.75) await this.#move(core, slug)
    else await this.#update(core, slug)
  }

  async #create(core: CoreProcess): Promise<void> {
    const parent = this.#oneOf(['', ...this.pages.keys()].filter((slug) => slug.split('/').length < 5))
    const [slug, content] = [`${parent || this.name}/p${this.#next()}`, this.#content()]
    this.pending = new Map([...this.pages, [slug, content]])
    const page = await core.must('POST', this.#path, { title: slug, content })
    this.ids.set(slug, page.wiki_page_meta_id)
    this.#settle()
  }

  async #update(core: CoreProcess, slug: string): Promise<void> {
    const content = this.#content()
    this.pending = new Map([...this.pages, [slug, content]])
    const page = await core.must('PUT', this.#one(slug), { content })
    this.#requireId(slug, page)
    this.#settle()
  }

  /** Moves a page, with the pages below it. */
  async #move(core: CoreProcess, slug: string): Promise<void> {
    const [target, content] = [`${this.name}/m${this.#next()}`, this.#content()]
    const slugAfter = (each: string) =>
      each === slug || each.startsWith(`${slug}/`) ? target + each.slice(slug.length) : each
    const moved = new Map([...this.pages].map(([each, text]) => [slugAfter(each), text]))
    this.pending = new Map([...moved, [target, content]])
    const page = await core.must('PUT', this.#one(slug), { title: `/${target}`, content })
    this.#requireId(slug, page)
    for (const [each, id] of [...this.ids]) {
      this.ids.delete(each)
      this.ids.set(slugAfter(each), id)
    }
    this.#settle()
  }

  async #remove(core: CoreProcess, slug: string): Promise<void> {
    this.pending = new Map([...this.pages].filter(([each]) => each !== slug))
    await core.must('DELETE', this.#one(slug))
    this.ids.delete(slug)
    this.#settle()
  }

  /** Asks for a page that exists already. Nothing may change. */
  async #fail(core: CoreProcess, slug: string): Promise<void> {
    this.pending = this.pages
    const { status, json } = await core.call('POST', this.#path, { title: slug, content: 'again' })
    if (status !== 400) throw new Error(`a duplicate page was answered with ${status} ${JSON.stringify(json)}`)
    this.#settle()
  }

  #settle(): void {
    this.pages = this.pending!
    this.pending = undefined
  }

  #requireId(slug: string, page: { readonly wiki_page_meta_id: number }): void {
    const id = this.ids.get(slug)
    if (id !== undefined && id !== page.wiki_page_meta_id) throw new Error(`the page ${slug} has another id`)
  }

  #one = (slug: string): string => `${this.#path}/${encodeURIComponent(slug)}`
  #content = (): string => `content ${this.#next()} of ${this.name}\n`.repeat(1 + this.#below(20))

  #next(): number {
    this.#count += 1
    return this.#count
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #oneOf<Item>(items: readonly Item[]): Item | undefined {
    return items[this.#below(items.length)]
  }
}
