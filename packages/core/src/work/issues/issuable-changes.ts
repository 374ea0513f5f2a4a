import { z } from 'zod'
import { invalid } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { labelIdsOf } from '../labels/label-store.ts'
import { findMilestones } from '../milestones/milestone-store.ts'
import { assignableUserIds } from './assignable-user-store.ts'
import { assigneesOf, type Issuable } from './issuable.ts'
import { attachableLabelIds, labelIdsOfItem } from './issuable-label-store.ts'
import { setPairs } from './issuable-pair-store.ts'
import type { IssuableTables } from './issuable-tables.ts'

/** How a given list changes the stored one. */
export const listMode = z.enum(['append', 'remove', 'replace']).default('replace')

export function applyListMode(
  stored: readonly number[],
  given: readonly number[],
  mode: z.output<typeof listMode>,
): number[] {
  if (mode === 'replace') return [...given]
  const others = stored.filter((id) => !given.includes(id))
  return mode === 'remove' ? others : [...others, ...given]
}

/** Changes to labels, assignees and the milestone. `undefined` leaves a value unchanged. */
export interface MetadataInput {
  readonly milestoneId?: number | null | undefined
  readonly assigneeId?: number | null | undefined
  readonly assigneeIds?: readonly number[] | undefined
  readonly labels?: readonly string[] | null | undefined
  readonly addLabels?: readonly string[] | null | undefined
  readonly removeLabels?: readonly string[] | null | undefined
  /** Labels by id instead of by name. Ids of labels that are not available in the project are ignored. */
  readonly labelIds?: readonly number[] | undefined
  readonly addLabelIds?: readonly number[] | undefined
  readonly removeLabelIds?: readonly number[] | undefined
}

/**
 * Returns the id of the milestone after the change. It must belong to the project or to a group above it; 0 removes it.
 *
 * @throws DomainError `invalid`
 */
export async function milestoneIdAfter(
  context: ReadContext,
  project: Project,
  wanted: number | null | undefined,
  before?: Pick<Issuable, 'milestone'>,
): Promise<number | undefined> {
  if (wanted === undefined) return before?.milestone?.id
  if (wanted === null || wanted === 0) return undefined
  const milestone = (await findMilestones(context, [wanted])).get(wanted)
  const { kind, id } = milestone?.parent ?? {}
  const isWithin = kind === 'project' ? id === project.id : id !== undefined && project.groupIds.includes(id)
  if (!isWithin) throw invalid({ milestoneId: ['is invalid'] })
  return wanted
}

/** Stores labels and assignees, without users who cannot see the project, and returns whether anything changed. */
export async function setMetadata(
  tx: Tx,
  tables: IssuableTables,
  project: Project,
  itemId: number,
  input: MetadataInput,
  before?: Pick<Issuable, 'labels'>,
): Promise<boolean> {
  let hasChanged = false
  const labelIds = await labelIdsAfter(tx, tables, project, itemId, input, before)
  if (labelIds !== undefined) {
    hasChanged = await setPairs(tx, tables, tables.labels, 'label_id', itemId, labelIds)
  }
  const assignees = assigneesOf(input)
  if (assignees === undefined) return hasChanged
  return (await setPeople(tx, tables, tables.assignees, project, itemId, assignees)) || hasChanged
}

/**
 * Stores assignees or reviewers, without users who cannot see the project, and returns whether anything changed. New rows
 * also get `columns`.
 */
export async function setPeople(
  tx: Tx,
  tables: IssuableTables,
  people: IssuableTables['assignees'],
  project: Project,
  itemId: number,
  userIds: readonly number[],
  columns?: Readonly<Record<string, number>>,
): Promise<boolean> {
  return setPairs(tx, tables, people, 'user_id', itemId, await assignableUserIds(tx, project, userIds), columns)
}

async function labelIdsAfter(
  tx: Tx,
  tables: IssuableTables,
  project: Project,
  itemId: number,
  input: MetadataInput,
  before?: Pick<Issuable, 'labels'>,
): Promise<readonly number[] | undefined> {
  const { labelIds, addLabelIds, removeLabelIds } = input
  const names = labelsAfter(before?.labels ?? [], input)
  const named = names && (await labelIdsOf(tx, project, names))
  if (labelIds === undefined && addLabelIds === undefined && removeLabelIds === undefined) return named
  const attachable = (ids: readonly number[] = []) => attachableLabelIds(tx, project, ids)
  const kept =
    labelIds === undefined ? (named ?? (await labelIdsOfItem(tx, tables, itemId))) : await attachable(labelIds)
  const removed = new Set(removeLabelIds)
  return [...new Set([...kept, ...(await attachable(addLabelIds))])].filter((id) => !removed.has(id))
}

function labelsAfter(before: readonly string[], input: MetadataInput): readonly string[] | undefined {
  const { labels, addLabels, removeLabels } = input
  if (labels === undefined && addLabels == null && removeLabels == null) return undefined
  const kept = labels === undefined ? before : (labels ?? [])
  const removed = new Set(removeLabels)
  return [...new Set([...kept, ...(addLabels ?? [])])].filter((name) => !removed.has(name))
}
