import type { Changes, DescribedLabel, ReviewState, User } from '@penstock/core'
import { hookTime, type Json, labelJson, userJson } from './shared-objects.ts'

/** The things that changed values refer to, by name and by id. */
export interface NamedThings {
  readonly labels: ReadonlyMap<string, DescribedLabel>
  readonly users: ReadonlyMap<number, User>
  /** The reviewer who is asked for another review. */
  readonly reRequestedId?: number | undefined
}

type Shown = (value: unknown, things: NamedThings, externalUrl: string) => unknown

const asIs: Shown = (value) => value
const time: Shown = (value) => (value === null ? null : hookTime(value as number))
const labels: Shown = (value, things) =>
  ((value ?? []) as readonly string[]).flatMap((name) => {
    const label = things.labels.get(name)
    return label === undefined ? [] : [labelJson(label)]
  })
const people: Shown = (value, things, externalUrl) =>
  ((value ?? []) as readonly number[]).flatMap((id) => {
    const user = things.users.get(id)
    return user === undefined ? [] : [userJson(user, externalUrl)]
  })
interface ChangedReviewer {
  readonly id: number
  readonly state: ReviewState
}
const reviewersWith =
  (isReRequested: (id: number, things: NamedThings) => boolean): Shown =>
  (value, things, externalUrl) =>
    ((value ?? []) as readonly ChangedReviewer[]).flatMap(({ id, state }) => {
      const user = things.users.get(id)
      return user === undefined
        ? []
        : [{ ...userJson(user, externalUrl), state, re_requested: isReRequested(id, things) }]
    })
const formerReviewers = reviewersWith(() => false)
const reviewers = reviewersWith((id, { reRequestedId }) => id === reRequestedId)
const stateIds: Readonly<Record<string, number>> = { opened: 1, closed: 2, merged: 3, locked: 4 }
export const stateId = (state: unknown): number | null => stateIds[String(state)] ?? null

/** The values that payloads show as changed: the name of the value in events, its name in payloads, and its form. */
const changedValues: Readonly<Record<string, readonly [name: string, shown: Shown]>> = {
  iid: ['iid', asIs],
  title: ['title', asIs],
  description: ['description', asIs],
  authorId: ['author_id', asIs],
  createdAtMs: ['created_at', time],
  updatedAtMs: ['updated_at', time],
  closedAtMs: ['closed_at', time],
  mergedAtMs: ['merged_at', time],
  mergedById: ['merge_user_id', asIs],
  mergeCommitSha: ['merge_commit_sha', asIs],
  squashCommitSha: ['squash_commit_sha', asIs],
  state: ['state_id', stateId],
  isConfidential: ['confidential', asIs],
  isDiscussionLocked: ['discussion_locked', asIs],
  dueDate: ['due_date', asIs],
  weight: ['weight', asIs],
  severity: ['severity', asIs],
  movedToId: ['moved_to_id', asIs],
  milestoneId: ['milestone_id', asIs],
  timeEstimateSeconds: ['time_estimate', asIs],
  timeSpentSeconds: ['total_time_spent', asIs],
  sourceBranch: ['source_branch', asIs],
  targetBranch: ['target_branch', asIs],
  isDraft: ['draft', asIs],
  isSquashed: ['squash', asIs],
  labels: ['labels', labels],
  assigneeIds: ['assignees', people],
  reviewers: ['reviewers', reviewers],
}

/** Returns the values of a change with their names and forms in payloads. */
export function changesJson(changes: Changes, things: NamedThings, externalUrl: string): Json {
  const rows = Object.entries(changes).flatMap(([key, { previous, current }]) => {
    const row = changedValues[key]
    if (row === undefined) return []
    const [name, shown] = row
    const shownBefore = key === 'reviewers' ? formerReviewers : shown
    const before = shownBefore(previous, things, externalUrl)
    return [[name, { previous: before, current: shown(current, things, externalUrl) }]]
  })
  return Object.fromEntries(rows)
}

/** Returns the label names and user ids that changed values refer to. */
export function namedIn(changes: Changes): { readonly labels: string[]; readonly users: number[] } {
  const both = <Value>(key: string) =>
    [changes[key]?.previous, changes[key]?.current].flatMap((value) => (value ?? []) as readonly Value[])
  return {
    labels: [...new Set(both<string>('labels'))],
    users: [...new Set([...both<number>('assigneeIds'), ...both<ChangedReviewer>('reviewers').map(({ id }) => id)])],
  }
}
