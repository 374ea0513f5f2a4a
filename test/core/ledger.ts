export const kinds = ['issue', 'milestone', 'variable', 'commit'] as const
export type Kind = (typeof kinds)[number]

/** All that one request sets, as one text, so that two are equal or not. */
export type Content = string

interface Entry {
  /** Of the last write that was acknowledged; `undefined`: none was. */
  acknowledged: Content | undefined
  /** Of the write whose answer has not come; whether it took place is open. */
  unanswered: Content | undefined
}

/** What was asked of the core, and what it has acknowledged, by what a thing is called for all its life. */
export class Ledger {
  readonly #entries: Record<Kind, Map<string, Entry>> = {
    issue: new Map(),
    milestone: new Map(),
    variable: new Map(),
    commit: new Map(),
  }
  /** Ids of the commits that were acknowledged. */
  readonly shas: string[] = []

  ask(kind: Kind, name: string, content: Content): void {
    const entry = this.#entries[kind].get(name) ?? { acknowledged: undefined, unanswered: undefined }
    entry.unanswered = content
    this.#entries[kind].set(name, entry)
  }

  acknowledge(kind: Kind, name: string): void {
    const entry = this.#entries[kind].get(name)!
    entry.acknowledged = entry.unanswered
    entry.unanswered = undefined
  }

  /** Of those things whose last write was not answered: how many. */
  get unanswered(): number {
    return kinds.flatMap((kind) => [...this.#entries[kind].values()]).filter((entry) => entry.unanswered !== undefined)
      .length
  }

  /** What is wrong with what is there, a sentence each. */
  faultsOf(kind: Kind, found: readonly (readonly [name: string, content: Content])[]): string[] {
    const entries = this.#entries[kind]
    const contents = new Map(found)
    const lost = [...entries].filter(([name, entry]) => entry.acknowledged !== undefined && !contents.has(name))
    const strange = found.filter(([name, content]) => {
      const entry = entries.get(name)
      return entry === undefined || (content !== entry.acknowledged && content !== entry.unanswered)
    })
    return [
      ...lost.map(([name]) => `${kind} ${name} was acknowledged and is gone`),
      ...strange.map(([name, content]) => `${kind} ${name} is ${content}, which is no state it was ever to have`),
      ...(contents.size < found.length ? [`some ${kind} is there twice`] : []),
    ]
  }

  /** Unanswered writes that took place after all. */
  takenPlace(kind: Kind, found: readonly (readonly [name: string, content: Content])[]): number {
    return found.filter(([name, content]) => this.#entries[kind].get(name)?.unanswered === content).length
  }
}
