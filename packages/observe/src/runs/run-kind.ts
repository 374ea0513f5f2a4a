import type { RefKind } from '../schema/pipeline-tables.ts'
import { type AttributeMap, runKeys } from './pipeline-attributes.ts'

/** The values that a run shares with the earlier runs that it is compared with: the same pipeline, started in the same way. */
export interface RunKind {
  readonly service: string
  readonly project: string | null
  /** `null` if the ref is unknown. */
  readonly refKind: RefKind | null
  readonly name: string | null
  readonly trigger: string | null
}

/** Spans do not say which branch is the default one, so these names do. */
export const DEFAULT_BRANCHES: readonly string[] = ['main', 'master', 'trunk']

const mergeRequestRef = /^refs\/(?:merge-requests|pull)\//
const mergeRequestTriggers: ReadonlySet<string | null> = new Set(['merge_request_event', 'external_pull_request_event'])

/** Returns the kind of the ref of a run; `null` if its ref is unknown. */
export function toRefKind(run: AttributeMap): RefKind | null {
  const ref = run.text(runKeys.ref)
  const isMergeRequest =
    run.hasAny(runKeys.changeId) ||
    mergeRequestTriggers.has(run.text(runKeys.trigger)) ||
    mergeRequestRef.test(ref ?? '')
  if (isMergeRequest) return 'merge_request'
  if (run.text(runKeys.refType) === 'tag' || run.flag(runKeys.tag) === true) return 'tag'
  if (ref === null) return null
  return DEFAULT_BRANCHES.includes(ref) ? 'default_branch' : 'other_branch'
}

export const isSameKind = (a: RunKind, b: RunKind): boolean =>
  a.service === b.service &&
  a.project === b.project &&
  a.refKind === b.refKind &&
  a.name === b.name &&
  a.trigger === b.trigger
