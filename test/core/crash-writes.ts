import type { Answer, CoreProcess } from './core-process.ts'
import { type Content, type Kind, kinds, type WriteHistory } from './write-history.ts'

/** The group of a run, and a project in it, to which the run writes. */
export interface WriteTarget {
  readonly groupId: number
  readonly projectId: number
  /** Users who can be assigned. */
  readonly userIds: readonly number[]
}

export type Random = () => number
type Json = Answer['json']

/** Converts objects from REST to a text that can be compared with the requested content. */
export const contentOf = {
  issue: ({ title, labels, assignees, state, weight, closed_at }: Json): Content =>
    JSON.stringify({
      title,
      labels: labels.toSorted(),
      assignees: assignees.map(({ id }: Json) => id).toSorted(),
      state,
      weight,
      hasClosingTime: closed_at !== null,
    }),
  milestone: ({ description, due_date, state }: Json): Content => JSON.stringify({ description, due_date, state }),
  variable: ({ value, description, raw }: Json): Content => JSON.stringify({ value, description, raw }),
  /** Converts the list of a commit's diffs. */
  commit: (diffs: Json): Content =>
    JSON.stringify(
      diffs
        .map(({ new_path, deleted_file, diff }: Json) =>
          deleted_file ? `-${new_path}` : `${new_path}: ${/^\+(.*)$/m.exec(diff)?.[1]}`,
        )
        .toSorted(),
    ),
}

/** Writes objects of its own in sequence. Several writers run concurrently. */
export class Writer {
  readonly #core: CoreProcess
  readonly #target: WriteTarget
  readonly #history: WriteHistory
  readonly #random: Random
  readonly #name: string
  #count = 0
  #issue: { iid: number; name: string; isClosed: boolean } | undefined
  #milestone: { id: number; name: string; isClosed: boolean } | undefined
  #variable: string | undefined
  /** The directory with the files `a` and `b` of the last commit. */
  #files: string | undefined

  constructor(core: CoreProcess, target: WriteTarget, history: WriteHistory, random: Random, name: string) {
    this.#core = core
    this.#target = target
    this.#history = history
    this.#random = random
    this.#name = name
  }

  /** Writes an object. Rejects if there is no answer, and if the answer is not a success with the requested content. */
  write(kind: Kind = this.#oneOf(kinds)): Promise<void> {
    this.#count += 1
    return this[`${kind}Write`]()
  }

  private async issueWrite(): Promise<void> {
    const { projectId, userIds } = this.#target
    const before = this.#isUpdate() ? this.#issue : undefined
    const name = before?.name ?? this.#newName()
    const isClosed = before !== undefined && !before.isClosed
    const wanted = {
      title: `title ${this.#count} of ${name}`,
      labels: this.#someOf(['bug', 'later', `of-${name}`, 'urgent']),
      assignee_ids: this.#someOf(userIds),
      weight: this.#count,
    }
    const content = contentOf.issue({
      ...wanted,
      assignees: wanted.assignee_ids.map((id) => ({ id })),
      state: isClosed ? 'closed' : 'opened',
      closed_at: isClosed ? '' : null,
    })
    const path = `/projects/${projectId}/issues`
    const { iid } = await this.#send('issue', name, content, () =>
      before === undefined
        ? this.#core.must('POST', path, { ...wanted, labels: wanted.labels.join(), description: name })
        : this.#core.must('PUT', `${path}/${before.iid}`, {
            ...wanted,
            labels: wanted.labels.join(),
            state_event: isClosed ? 'close' : 'reopen',
          }),
    )
    this.#issue = { iid, name, isClosed }
  }

  private async milestoneWrite(): Promise<void> {
    const before = this.#isUpdate() ? this.#milestone : undefined
    const name = before?.name ?? this.#newName()
    const isClosed = before !== undefined && !before.isClosed
    const wanted = {
      description: `text ${this.#count}`,
      due_date: `2030-01-${String(1 + (this.#count % 28)).padStart(2, '0')}`,
    }
    const content = contentOf.milestone({ ...wanted, state: isClosed ? 'closed' : 'active' })
    const path = `/groups/${this.#target.groupId}/milestones`
    const { id } = await this.#send('milestone', name, content, () =>
      before === undefined
        ? this.#core.must('POST', path, { ...wanted, title: name })
        : this.#core.must('PUT', `${path}/${before.id}`, { ...wanted, state_event: isClosed ? 'close' : 'activate' }),
    )
    this.#milestone = { id, name, isClosed }
  }

  private async variableWrite(): Promise<void> {
    const before = this.#isUpdate() ? this.#variable : undefined
    const name = before ?? this.#newName()
    const wanted = { value: `value ${this.#count}`, description: `text ${this.#count}`, raw: this.#count % 2 === 0 }
    const path = `/projects/${this.#target.projectId}/variables`
    await this.#send('variable', name, contentOf.variable(wanted), () =>
      before === undefined
        ? this.#core.must('POST', path, { ...wanted, key: name })
        : this.#core.must('PUT', `${path}/${before}`, wanted),
    )
    this.#variable = name
  }

  /** Commits two new files, changes one file of the previous commit, and deletes the other. */
  private async commitWrite(): Promise<void> {
    const name = this.#newName()
    const text = `text ${this.#count}`
    const former = this.#files
    const files = `files/${this.#name}/${this.#count}`
    const actions = [
      { action: 'create', file_path: `${files}/a`, content: `a ${text} of ${name}\n` },
      { action: 'create', file_path: `${files}/b`, content: `b ${text} of ${name}\n` },
      ...(former === undefined
        ? []
        : [
            { action: 'update', file_path: `${former}/a`, content: `changed ${text} of ${name}\n` },
            { action: 'delete', file_path: `${former}/b` },
          ]),
    ]
    const diffs = actions.map(({ action, file_path, content }) => ({
      new_path: file_path,
      deleted_file: action === 'delete',
      diff: `+${content?.trimEnd()}`,
    }))
    const path = `/projects/${this.#target.projectId}/repository/commits`
    const { id } = await this.#send('commit', name, contentOf.commit(diffs), () =>
      this.#core.must('POST', path, { branch: 'main', commit_message: name, actions }),
    )
    this.#history.shas.push(id)
    this.#files = files
  }

  async #send(kind: Kind, name: string, content: Content, send: () => Promise<Json>): Promise<Json> {
    this.#history.request(kind, name, content)
    const json = await send()
    this.#history.acknowledge(kind, name)
    // The answer to a commit does not contain its files.
    if (kind !== 'commit' && contentOf[kind](json) !== content) {
      throw new Error(`${kind} ${name}: requested ${content}, but the answer is ${contentOf[kind](json)}`)
    }
    return json
  }

  #newName(): string {
    return `${this.#name}_${this.#count}`
  }

  #isUpdate(): boolean {
    return this.#random() < 0.5
  }

  #oneOf<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)]!
  }

  #someOf<Item>(items: readonly Item[]): Item[] {
    return items.filter(() => this.#random() < 0.6)
  }
}
