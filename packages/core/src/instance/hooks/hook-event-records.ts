import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Changes } from '../../base/operations/event.ts'
import type { AwardEmojiRecord } from '../../work/award-emoji/award-emoji.ts'
import type { DescribedMilestone } from '../../work/milestones/milestone.ts'
import { findMilestone } from '../../work/milestones/milestone-store.ts'
import type { ReleaseLinkRecord, ReleaseRecord } from '../../work/releases/release.ts'
import { findRelease, linksOfReleases } from '../../work/releases/release-store.ts'
import { type NotedFacts, type NoteFacts, readNotedFacts, readNoteFacts } from './hook-facts.ts'

/** Returns the record that was created or removed, from the values of its event. */
function recordIn<Record>(changes: Changes): Record {
  const values = Object.entries(changes).map(([name, { previous, current }]) => [
    name,
    current ?? previous ?? undefined,
  ])
  return Object.fromEntries(values) as Record
}

/** A reaction, and what it refers to. */
export interface AwardFacts {
  readonly award: AwardEmojiRecord
  /** The note, if it is a reaction to one. */
  readonly note: NoteFacts['note'] | undefined
  readonly on: NotedFacts
}

/** @param changes the values of the event that created or removed the reaction */
export async function readAwardFacts(context: ReadContext, changes: Changes): Promise<AwardFacts> {
  const award = recordIn<AwardEmojiRecord>(changes)
  if (award.noteId !== undefined) return { award, ...(await readNoteFacts(context, award.noteId)) }
  return { award, note: undefined, on: await readNotedFacts(context, { ...award, commitSha: undefined }) }
}

export interface ReleaseFacts {
  readonly release: ReleaseRecord
  readonly links: readonly ReleaseLinkRecord[]
}

/** Returns a release of the project; one that has been removed as the values of its event have it. */
export async function readReleaseFacts(
  context: ReadContext,
  project: Project,
  { tag, changes }: { readonly tag: string; readonly changes: Changes },
): Promise<ReleaseFacts> {
  const release = await findRelease(context, project, tag)
  if (release === undefined) return { release: recordIn<ReleaseRecord>(changes), links: [] }
  return { release, links: await linksOfReleases(context, [release.id]) }
}

/** Returns a milestone of the project; one that has been removed as the values of its event have it. */
export const readMilestoneFacts = async (
  context: ReadContext,
  project: Project,
  { id, changes }: { readonly id: number; readonly changes: Changes },
): Promise<DescribedMilestone> => (await findMilestone(context, project, id)) ?? recordIn<DescribedMilestone>(changes)

/** Returns the tag of the newest release. */
export async function findNewestReleaseTag({ db }: ReadContext, projectId: number): Promise<string | undefined> {
  const own = db.selectFrom('releases').select('tag').where('project_id', '=', projectId)
  return (await own.orderBy('id', 'desc').limit(1).executeTakeFirst())?.tag
}
