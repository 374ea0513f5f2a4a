export const kinds = ['issue', 'milestone', 'variable', 'commit'] as const
export type Kind = (typeof kinds)[number]

/** Everything that one request sets, as one comparable text. */
export type Content = string

interface Entry {
  /** The content of the last acknowledged write, or `undefined` if there is none. */
  acknowledged: Content | undefined
  /** The content of a write without an answer, which may or may not be stored. */
  unanswered: Content | undefined
}

/** The requested and acknowledged writes, by the constant name of each object. */
export class WriteHistory {
  readonly #entries: Record<Kind, Map<string, Entry>> = {
    issue: new Map(),
    milestone: new Map(),
    variable: new Map(),
    commit: new Map(),
  }
  /** Ids of the acknowledged commits. */
  readonly shas: string[] = []

  request(kind: Kind, name: string, content: Content): void {
    const entry = this.#entries[kind].get(name) ?? { acknowledged: undefined, unanswered: undefined }
    entry.unanswered = content
    this.#entries[kind].set(name, entry)
  }

  acknowledge(kind: Kind, name: string): void {
    const entry = this.#entries[kind].get(name)!
    entry.acknowledged = entry.unanswered
    entry.unanswered = undefined
  }

  /** The number of objects with an unanswered last write. */
  get unanswered(): number {
    return kinds.flatMap((kind) => [...this.#entries[kind].values()]).filter((entry) => entry.unanswered !== undefined)
      .length
  }

  /** Returns a message for each fault of the stored objects. */
  faultsOf(kind: Kind, found: readonly (readonly [name: string, content: Content])[]): string[] {
    const entries = this.#entries[kind]
    const contents = new Map(found)
    const lost = [...entries].filter(([name, entry]) => entry.acknowledged !== undefined && !contents.has(name))
    const wrong = found.filter(([name, content]) => {
      const entry = entries.get(name)
      return entry === undefined || (content !== entry.acknowledged && content !== entry.unanswered)
    })
    return [
      ...lost.map(([name]) => `${kind} ${name} was acknowledged but is missing`),
      ...wrong.map(([name, content]) => `${kind} ${name} is ${content}, which was not requested`),
      ...(contents.size < found.length ? [`some ${kind} exists twice`] : []),
    ]
  }

  /** Returns the number of unanswered writes that were stored. */
  unansweredStored(kind: Kind, found: readonly (readonly [name: string, content: Content])[]): number {
    return found.filter(([name, content]) => this.#entries[kind].get(name)?.unanswered === content).length
  }
}
