import { getOrCreate } from './map-entry.ts'

/**
 * The attributes from which the columns of runs and jobs are read: those of the semantic conventions, and Penstock's own
 * in both of their forms. `svc.` means any vendor namespace. The first key that a span has is used.
 */

type Keys = readonly [string, ...string[]]

/** Attributes of a run that may be in the resource instead of the span. */
export const projectKeys = {
  name: ['vcs.repository.name'],
  owner: ['vcs.owner.name'],
  url: ['vcs.repository.url.full'],
  forge: ['vcs.provider.name'],
} as const satisfies Record<string, Keys>

export const runKeys = {
  name: ['cicd.pipeline.name', 'pipeline.name'],
  pipelineId: ['cicd.pipeline.run.id', 'pipeline.id'],
  iid: ['pipeline.iid'],
  status: ['pipeline.status'],
  result: ['cicd.pipeline.result'],
  state: ['cicd.pipeline.run.state'],
  ref: ['vcs.ref.head.name', 'pipeline.ref'],
  sha: ['vcs.ref.head.revision', 'pipeline.sha', 'pipeline.commit.id'],
  commitMessage: ['svc.vcs.ref.head.revision.message', 'pipeline.commit.message'],
  changeTitle: ['vcs.change.title'],
  changeId: ['vcs.change.id', 'pipeline.merge_request.iid'],
  refType: ['vcs.ref.head.type'],
  tag: ['pipeline.tag'],
  trigger: ['svc.cicd.pipeline.trigger.type'],
  username: ['svc.cicd.pipeline.user.username', 'pipeline.user.username'],
  url: ['cicd.pipeline.run.url.full', 'pipeline.url'],
  busySeconds: ['svc.cicd.pipeline.run.duration', 'pipeline.duration'],
  queueSeconds: ['svc.cicd.pipeline.run.queued_duration', 'pipeline.queued_duration'],
  coverage: ['svc.cicd.pipeline.run.coverage'],
} as const satisfies Record<string, Keys>

export const jobKeys = {
  name: ['cicd.pipeline.task.name', 'job.name'],
  stage: ['cicd.pipeline.task.type', 'job.stage'],
  jobId: ['cicd.pipeline.task.run.id', 'job.id'],
  status: ['job.status'],
  result: ['cicd.pipeline.task.run.result'],
  state: ['cicd.pipeline.task.run.state'],
  kind: ['svc.cicd.pipeline.task.kind', 'job.type'],
  executed: ['svc.cicd.pipeline.task.run.executed'],
  manual: ['job.manual'],
  when: ['svc.cicd.pipeline.task.run.when', 'job.when'],
  allowFailure: ['svc.cicd.pipeline.task.allow_failure', 'job.allow_failure'],
  failureReason: ['svc.cicd.pipeline.task.run.failure_reason', 'job.failure_reason', 'error.type'],
  attempt: ['svc.cicd.pipeline.task.run.attempt'],
  durationSeconds: ['svc.cicd.pipeline.task.run.duration', 'job.duration'],
  queueSeconds: ['svc.cicd.pipeline.task.run.queued_duration', 'job.queued_duration'],
  runnerId: ['cicd.worker.id', 'job.runner.id'],
  runnerName: ['cicd.worker.name', 'job.runner.description'],
  runnerTags: ['svc.cicd.worker.tags', 'job.runner.tags'],
  environment: ['svc.cicd.pipeline.task.environment.name', 'job.environment.name'],
  username: ['svc.cicd.pipeline.task.user.username', 'job.user.username'],
  url: ['cicd.pipeline.task.run.url.full'],
  coverage: ['svc.cicd.pipeline.task.run.coverage'],
} as const satisfies Record<string, Keys>

/** A span with one of these is a job or bridge. */
export const jobMarks: Keys = [...jobKeys.name, ...jobKeys.jobId, ...jobKeys.result, ...jobKeys.state]
/** A span with one of these, and nothing of a job or stage, is a pipeline run. */
export const runMarks: Keys = [...runKeys.pipelineId, ...runKeys.result, ...runKeys.state]

export const resultWords: Readonly<Record<string, string>> = {
  success: 'success',
  failure: 'failed',
  error: 'failed',
  timeout: 'failed',
  cancellation: 'canceled',
  skip: 'skipped',
}
export const stateWords: Readonly<Record<string, string>> = {
  pending: 'pending',
  executing: 'running',
  finalizing: 'running',
}
const finalWords: ReadonlySet<string> = new Set(['success', 'failed', 'canceled', 'skipped'])

/** Attributes by key, with `svc.` in place of any vendor namespace. */
export class AttributeMap {
  readonly #values: ReadonlyMap<string, unknown>

  /** @param lists lists of KeyValue in OTLP/JSON; a key of an earlier list wins */
  constructor(...lists: readonly unknown[]) {
    const values = new Map<string, unknown>()
    for (const list of lists) {
      for (const { key, value } of (list ?? []) as readonly { key?: string; value?: object }[]) {
        const name = withoutVendor(key ?? '')
        if (!values.has(name)) values.set(name, plainValue(value))
      }
    }
    this.#values = values
  }

  hasAny(keys: Keys): boolean {
    return keys.some((key) => this.#values.has(key))
  }

  text(keys: Keys): string | null {
    return this.#first(keys, (value) => {
      if (typeof value === 'number' || typeof value === 'bigint') return String(value)
      return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : undefined
    })
  }

  number(keys: Keys): number | null {
    return this.#first(keys, (value) => {
      const number = typeof value === 'string' && value !== '' ? Number(value) : value
      return typeof number === 'number' && Number.isFinite(number) ? number : undefined
    })
  }

  flag(keys: Keys): boolean | null {
    return this.#first(keys, (value) => (typeof value === 'boolean' ? value : undefined))
  }

  texts(keys: Keys): string[] | null {
    return this.#first(keys, (value) =>
      Array.isArray(value)
        ? value
            .filter((item) => typeof item === 'string')
            .slice(0, MAX_LIST)
            .map((item) => item.slice(0, MAX_TEXT))
        : undefined,
    )
  }

  #first<Value>(keys: Keys, read: (value: unknown) => Value | undefined): Value | null {
    for (const key of keys) {
      const value = read(this.#values.get(key))
      if (value !== undefined) return value
    }
    return null
  }
}

/** The limits on one column; the span itself has the whole value. */
export const MAX_TEXT = 1_000
const MAX_LIST = 50

const vendorPrefix = /^(?!cicd\.|vcs\.)[a-z][a-z0-9_]*\.(?=cicd\.|vcs\.)/
/** The keys that are remembered; beyond it, all are forgotten. */
const MAX_KEYS = 10_000
const MAX_KNOWN_LENGTH = 200
const knownKeys = new Map<string, string>()

/** Returns a key with `svc.` in place of a vendor namespace. Spans have the same keys, so each is computed once. */
function withoutVendor(key: string): string {
  if (key.length > MAX_KNOWN_LENGTH) return key.replace(vendorPrefix, 'svc.')
  if (knownKeys.size >= MAX_KEYS) knownKeys.clear()
  return getOrCreate(knownKeys, key, () => key.replace(vendorPrefix, 'svc.'))
}

type AnyValue = { readonly arrayValue?: { readonly values?: readonly object[] }; readonly [type: string]: unknown }

/** Returns texts, booleans, numbers and lists of an AnyValue in OTLP/JSON. Integers are texts. */
function plainValue(value: object | undefined): unknown {
  const { arrayValue, ...scalar } = (value ?? {}) as AnyValue
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map((item) => Object.values(item)[0])
  return Object.values(scalar)[0]
}

const flagKeys: ReadonlySet<string> = new Set([
  ...runKeys.tag,
  ...jobKeys.executed,
  ...jobKeys.manual,
  ...jobKeys.allowFailure,
])
const listKeys: ReadonlySet<string> = new Set(jobKeys.runnerTags)

/** Returns the AnyValue in OTLP/JSON of an attribute that is stored as text, with the type that the columns above are read from. */
export function typedValue(key: string, text: string): object {
  const name = withoutVendor(key)
  if (flagKeys.has(name) && (text === 'true' || text === 'false')) return { boolValue: text === 'true' }
  if (listKeys.has(name)) {
    const texts = textsIn(text)
    if (texts !== undefined) return { arrayValue: { values: texts.map((stringValue) => ({ stringValue })) } }
  }
  return { stringValue: text }
}

function textsIn(json: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(json)
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : undefined
  } catch {
    return undefined
  }
}

export type PipelineSpanKind = 'run' | 'job' | 'stage'

/** Returns what a span represents in a pipeline; `undefined` for spans that are not of a CI system. */
export function pipelineSpanKind(attributes: AttributeMap): PipelineSpanKind | undefined {
  if (attributes.hasAny(jobMarks)) return 'job'
  if (attributes.hasAny(jobKeys.stage)) return 'stage'
  return attributes.hasAny(runMarks) ? 'run' : undefined
}

export interface StatusColumns {
  readonly status: string | null
  readonly is_final: number
}

/** Returns the platform's own word; without one, the word for the result, the state, or an error of the span. */
export function statusColumns(
  attributes: AttributeMap,
  keys: { readonly status: Keys; readonly result: Keys; readonly state: Keys },
  isError: boolean,
): StatusColumns {
  const result = attributes.text(keys.result)
  const state = attributes.text(keys.state)
  const status =
    attributes.text(keys.status) ??
    wordFor(resultWords, result) ??
    wordFor(stateWords, state) ??
    (isError ? 'failed' : null)
  return { status, is_final: Number(status !== null && finalWords.has(status)) }
}

const wordFor = (words: Readonly<Record<string, string>>, word: string | null): string | null =>
  word === null ? null : Object.hasOwn(words, word) ? words[word]! : word
