import type { Answer, CoreProcess } from './core-process.ts'
import type { Random } from './crash-writes.ts'

/** The title of a snippet and the contents of its files by path. */
export interface SnippetState {
  readonly title: string
  readonly files: ReadonlyMap<string, string>
}

/** A write without an answer: the snippet is in one of the two states, of which `undefined` means that it does not exist. */
interface PendingWrite {
  /** `undefined` for a new snippet, which is found by its title. */
  readonly id: number | undefined
  readonly before: SnippetState | undefined
  readonly after: SnippetState | undefined
}

interface Action {
  readonly action: 'create' | 'update' | 'delete' | 'move'
  readonly file_path: string
  readonly previous_path?: string
  readonly content?: string
}

const MAX_FILES = 10
/** The snippets of one writer; it removes one before it creates another. */
const MAX_SNIPPETS = 4

/** Creates, changes and removes snippets of its own, one after the other. Several writers run concurrently. */
export class SnippetWriter {
  /** The acknowledged states by id. */
  readonly snippets = new Map<number, SnippetState>()
  pending: PendingWrite | undefined
  /** The number of acknowledged writes. */
  acknowledged = 0
  readonly #path: string
  readonly #random: Random
  readonly #name: string
  #count = 0

  /** Returns a writer with a user of its own, because creations are limited for each user. */
  static async of(core: CoreProcess, projectId: number, random: Random, name: string): Promise<SnippetWriter> {
    const profile = { username: name, name, email: `${name}@example.com`, force_random_password: true }
    const { id: user_id } = await core.must('POST', '/users', profile)
    await core.must('POST', `/projects/${projectId}/members`, { user_id, access_level: 40 })
    return new SnippetWriter(projectId, random, name)
  }

  private constructor(projectId: number, random: Random, name: string) {
    this.#path = `/projects/${projectId}/snippets`
    this.#random = random
    this.#name = name
  }

  /** Makes one random write. Rejects if there is no answer, and if the answer is not the expected one. */
  async write(core: CoreProcess): Promise<void> {
    this.#count += 1
    const id = this.#oneOf([...this.snippets.keys()])
    const chance = this.#random()
    if (id === undefined || (chance < 0.3 && this.snippets.size < MAX_SNIPPETS)) await this.#create(core)
    else if (chance < 0.4 || this.snippets.size > MAX_SNIPPETS) await this.#remove(core, id)
    else if (chance < 0.5) await this.#fail(core, id)
    else await this.#update(core, id)
    this.acknowledged += 1
  }

  async #create(core: CoreProcess): Promise<void> {
    const title = this.#newTitle()
    const files = Array.from({ length: 1 + this.#below(3) }, () => [this.#newPath(), this.#newContent()] as const)
    const after = { title, files: new Map(files) }
    this.pending = { id: undefined, before: undefined, after }
    const body = { title, files: [...after.files].map(([file_path, content]) => ({ file_path, content })) }
    const { id } = await core.must('POST', this.#url(), body)
    this.#settle(id, after)
  }

  async #update(core: CoreProcess, id: number): Promise<void> {
    const before = this.snippets.get(id)!
    const { actions, files } = this.#actionsOn(before.files)
    const title = this.#random() < 0.5 ? this.#newTitle() : before.title
    const after = { title, files }
    this.pending = { id, before, after }
    const answer = await core.must('PUT', this.#url(id), { title, files: actions })
    requireFiles(answer, files)
    this.#settle(id, after)
  }

  /** Sends actions of which the last one is not possible. Nothing may change. */
  async #fail(core: CoreProcess, id: number): Promise<void> {
    const before = this.snippets.get(id)!
    const files: Action[] = [
      { action: 'create', file_path: this.#newPath(), content: this.#newContent() },
      { action: 'update', file_path: 'missing', content: this.#newContent() },
    ]
    this.pending = { id, before, after: before }
    const { status, json } = await core.call('PUT', this.#url(id), { title: this.#newTitle(), files })
    if (status !== 400) throw new Error(`an impossible action was answered with ${status} ${JSON.stringify(json)}`)
    this.#settle(id, before)
  }

  async #remove(core: CoreProcess, id: number): Promise<void> {
    this.pending = { id, before: this.snippets.get(id), after: undefined }
    await core.must('DELETE', this.#url(id))
    this.#settle(id, undefined)
  }

  #settle(id: number, state: SnippetState | undefined): void {
    this.pending = undefined
    if (state === undefined) this.snippets.delete(id)
    else this.snippets.set(id, state)
  }

  /** Returns up to three actions that are possible one after the other, and the files after them. */
  #actionsOn(before: ReadonlyMap<string, string>): { actions: Action[]; files: ReadonlyMap<string, string> } {
    const files = new Map(before)
    const actions: Action[] = []
    for (let left = 1 + this.#below(3); left > 0; left -= 1) {
      const path = this.#oneOf([...files.keys()])!
      const content = this.#newContent()
      const kind = this.#oneOf(['create', 'update', 'delete', 'move'] as const)!
      if (kind === 'create' && files.size < MAX_FILES) {
        const file_path = this.#newPath()
        files.set(file_path, content)
        actions.push({ action: 'create', file_path, content })
      } else if (kind === 'delete' && files.size > 1) {
        files.delete(path)
        actions.push({ action: 'delete', file_path: path })
      } else if (kind === 'move') {
        const file_path = this.#newPath()
        files.set(file_path, files.get(path)!)
        files.delete(path)
        actions.push({ action: 'move', file_path, previous_path: path })
      } else {
        files.set(path, content)
        actions.push({ action: 'update', file_path: path, content })
      }
    }
    return { actions, files }
  }

  #url = (id?: number): string => `${this.#path}${id === undefined ? '' : `/${id}`}?sudo=${this.#name}`
  #newTitle = (): string => `${this.#name} ${this.#nextNumber()}`
  #newPath = (): string => `${this.#oneOf(['', 'bin/', 'docs/a/'])}${this.#name}-${this.#nextNumber()}.txt`
  #newContent = (): string => `content ${this.#nextNumber()} of ${this.#name}\n`.repeat(1 + this.#below(20))

  #nextNumber(): number {
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

const sorted = (paths: Iterable<string>): string[] => [...paths].toSorted()

function requireFiles({ files }: Answer['json'], expected: ReadonlyMap<string, string>): void {
  const shown = files.map(({ path }: { path: string }) => path)
  if (JSON.stringify(sorted(shown)) === JSON.stringify(sorted(expected.keys()))) return
  throw new Error(`the answer has the files ${shown}, but they should be ${[...expected.keys()]}`)
}
