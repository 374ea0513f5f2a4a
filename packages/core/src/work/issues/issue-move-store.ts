import { sql } from 'kysely'
import { columnsOf, type FieldTable } from '../../base/kit/field-table.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { awardEmojiFields } from '../award-emoji/award-emoji.ts'
import { noteFields } from '../notes/note.ts'
import { setPairs } from './issuable-pair-store.ts'
import type { Issue } from './issue.ts'
import { issueTables } from './issue-store.ts'

/** An id that no group has. It is added to lists of groups, because SQL does not allow an empty list. */
const NO_GROUP = 0

/**
 * Copies the details of an issue to its successor in another project. The successor gets the labels and the milestone
 * that have the same names there.
 */
export async function copyIssueDetails(
  tx: Tx,
  before: Issue,
  { id, project }: { readonly id: number; readonly project: Project },
): Promise<void> {
  const { db } = tx
  const groupIds = [NO_GROUP, ...project.groupIds]
  if (before.labels.length > 0) {
    const named = await db
      .selectFrom('labels')
      .select('id')
      .where('name', 'in', [...before.labels])
      .where((eb) => eb.or([eb('project_id', '=', project.id), eb('group_id', 'in', groupIds)]))
      .execute()
    const labelIds = named.map((row) => row.id)
    await setPairs(tx, issueTables, 'issue_labels', 'label_id', id, labelIds)
  }
  if (before.milestone !== undefined) {
    const milestone = await db
      .selectFrom('milestones')
      .select('id')
      .where('title', '=', before.milestone.title)
      .where((eb) => eb.or([eb('project_id', '=', project.id), eb('group_id', 'in', groupIds)]))
      .orderBy('id')
      .executeTakeFirst()
    if (milestone !== undefined) {
      await db.updateTable('issues').set({ milestone_id: milestone.id }).where('id', '=', id).execute()
    }
  }
  const { timeEstimateSeconds: time_estimate_seconds, timeSpentSeconds: time_spent_seconds } = before
  await db.updateTable('issues').set({ time_estimate_seconds, time_spent_seconds }).where('id', '=', id).execute()
  await sql`insert into timelogs (issue_id, user_id, seconds, summary, spent_at_ms)
    select ${id}, user_id, seconds, summary, spent_at_ms from timelogs where issue_id = ${before.id}`.execute(db)
  await copyNotesAndReactions(tx, before.id, id, project)
  await sql`insert into issue_subscriptions (issue_id, user_id, is_subscribed)
    select ${id}, user_id, is_subscribed from issue_subscriptions where issue_id = ${before.id}`.execute(db)
}

/** Copies the notes of an issue and the reactions to it, with their users and times. */
async function copyNotesAndReactions(
  { db }: Tx,
  fromId: number,
  toId: number,
  { id: projectId }: Project,
): Promise<void> {
  for (const [table, fields] of Object.entries({ notes: noteFields, award_emoji: awardEmojiFields })) {
    const own: readonly string[] = ['id', 'project_id', 'issue_id']
    const columns = columnsOf<FieldTable>(fields).filter((column) => !own.includes(column))
    const copied = sql.join(columns.map((column) => sql.ref(column)))
    await sql`insert into ${sql.table(table)} (project_id, issue_id, ${copied})
      select ${sql.lit(projectId)}, ${sql.lit(toId)}, ${copied} from ${sql.table(table)}
      where issue_id = ${fromId} order by id`.execute(db)
  }
  const { user_notes_count, upvotes, downvotes } = await db
    .selectFrom('issues')
    .select(['user_notes_count', 'upvotes', 'downvotes'])
    .where('id', '=', fromId)
    .executeTakeFirstOrThrow()
  await db.updateTable('issues').set({ user_notes_count, upvotes, downvotes }).where('id', '=', toId).execute()
}
