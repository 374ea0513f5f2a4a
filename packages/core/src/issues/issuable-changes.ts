import type { Reading, Tx } from '../kit/context.ts'
import { invalid } from '../kit/domain-error.ts'
import { labelIdsOf } from '../labels/label-store.ts'
import { findMilestones } from '../milestones/milestone-store.ts'
import type { Project } from '../projects/project.ts'
import { assigneesOf, type Issuable } from './issuable.ts'
import { assignable, type IssuableTables, setPairs } from './issuable-store.ts'

/** What may be said of labels, assignees and the milestone. `undefined`: nothing was. */
export interface MetadataInput {
  readonly milestoneId?: number | null | undefined
  readonly assigneeId?: number | null | undefined
  readonly assigneeIds?: readonly number[] | undefined
  readonly labels?: readonly string[] | null | undefined
  readonly addLabels?: readonly string[] | null | undefined
  readonly removeLabels?: readonly string[] | null | undefined
}

/**
 * The milestone after the change: that of the project or of a group above it; 0 takes it away.
 *
 * @throws DomainError `invalid`
 */
export async function milestoneIdAfter(
  reading: Reading,
  project: Project,
  wanted: number | null | undefined,
  before?: Pick<Issuable, 'milestone'>,
): Promise<number | undefined> {
  if (wanted === undefined) return before?.milestone?.id
  if (wanted === null || wanted === 0) return undefined
  const milestone = (await findMilestones(reading, [wanted])).get(wanted)
  const { kind, id } = milestone?.parent ?? {}
  const isWithin = kind === 'project' ? id === project.id : id !== undefined && project.groupIds.includes(id)
  if (!isWithin) throw invalid({ milestoneId: ['is invalid'] })
  return wanted
}

/** Puts labels and assignees on it. People who do not see the project are left out. True: it made a difference. */
export async function setMetadata(
  tx: Tx,
  tables: IssuableTables,
  project: Project,
  itemId: number,
  input: MetadataInput,
  before?: Pick<Issuable, 'labels'>,
): Promise<boolean> {
  let hasChanged = false
  const labels = labelsAfter(before?.labels ?? [], input)
  if (labels !== undefined) {
    const labelIds = await labelIdsOf(tx, project, labels)
    hasChanged = await setPairs(tx, tables, tables.labels, 'label_id', itemId, labelIds)
  }
  const assignees = assigneesOf(input)
  if (assignees === undefined) return hasChanged
  return (await setPeople(tx, tables, tables.assignees, project, itemId, assignees)) || hasChanged
}

/** As for assignees; also for reviewers. */
export async function setPeople(
  tx: Tx,
  tables: IssuableTables,
  people: IssuableTables['assignees'],
  project: Project,
  itemId: number,
  userIds: readonly number[],
): Promise<boolean> {
  return setPairs(tx, tables, people, 'user_id', itemId, await assignable(tx, project, userIds))
}

function labelsAfter(before: readonly string[], input: MetadataInput): readonly string[] | undefined {
  const { labels, addLabels, removeLabels } = input
  if (labels === undefined && addLabels == null && removeLabels == null) return undefined
  const kept = labels === undefined ? before : (labels ?? [])
  const gone = new Set(removeLabels)
  return [...new Set([...kept, ...(addLabels ?? [])])].filter((name) => !gone.has(name))
}
