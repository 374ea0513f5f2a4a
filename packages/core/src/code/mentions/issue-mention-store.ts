import { chunked } from '../../base/kit/chunked.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { IssueReference } from './issue-references.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    issue_mentions: IssueMentionsTable
  }
}

/** The issues that merge requests mention. */
interface IssueMentionsTable {
  merge_request_id: number
  issue_id: number
  /** Whether the issue was found in the title and the description, or in the messages of commits. */
  origin: MentionOrigin
  /** Whether the merge request says that it closes the issue. */
  is_closing: number
}

type MentionOrigin = 'text' | 'commits'

/** Further projects that a text refers to are ignored. */
const MAX_PROJECTS = 20

/** The project of a text, which its references start from. */
interface Home {
  readonly id: number
  readonly fullPath: string
}

/** Replaces the mentions in the title and the description of a merge request. */
export async function setTextMentions(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  home: Home,
  mergeRequestId: number,
  references: readonly IssueReference[],
): Promise<void> {
  await tx.db
    .deleteFrom('issue_mentions')
    .where('merge_request_id', '=', mergeRequestId)
    .where('origin', '=', 'text')
    .execute()
  await insertMentions(tx, [mergeRequestId], 'text', await mentionedIssues(tx, home, references))
}

/** Adds the mentions in messages of commits to the open merge requests of a source branch. */
export async function addCommitMentions(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  projectId: number,
  sourceBranch: string,
  references: readonly IssueReference[],
): Promise<void> {
  if (references.length === 0) return
  const home = await tx.db
    .selectFrom('projects')
    .select(['id', 'full_path as fullPath'])
    .where('id', '=', projectId)
    .executeTakeFirst()
  const open = await tx.db
    .selectFrom('merge_requests')
    .select('id')
    .where('project_id', '=', projectId)
    .where('source_branch', '=', sourceBranch)
    .where('state', '=', 'opened')
    .execute()
  if (home === undefined || open.length === 0) return
  const ids = open.map(({ id }) => id)
  await insertMentions(tx, ids, 'commits', await mentionedIssues(tx, home, references))
}

async function insertMentions(
  { db }: Pick<Tx, 'db'>,
  mergeRequestIds: readonly number[],
  origin: MentionOrigin,
  issues: ReadonlyMap<number, boolean>,
): Promise<void> {
  const rows = mergeRequestIds.flatMap((merge_request_id) =>
    [...issues].map(([issue_id, isClosing]) => ({ merge_request_id, issue_id, origin, is_closing: Number(isClosing) })),
  )
  for (const some of chunked(rows)) {
    await db
      .insertInto('issue_mentions')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['issue_id', 'merge_request_id', 'origin']).doUpdateSet(({ eb, ref }) => ({
          is_closing: eb
            .case()
            .when(ref('excluded.is_closing'), '=', 1)
            .then(1)
            .else(ref('issue_mentions.is_closing'))
            .end(),
        })),
      )
      .execute()
  }
}

/** Returns whether the issue is closed, by the ids of the existing issues among the references. */
async function mentionedIssues(
  context: Pick<ReadContext, 'db'>,
  home: Home,
  references: readonly IssueReference[],
): Promise<ReadonlyMap<number, boolean>> {
  const closing = new Map<string, Map<number, boolean>>()
  for (const { project, iid, isClosing } of references) {
    const path = fullPathOf(project, home)
    const iids = closing.get(path) ?? new Map<number, boolean>()
    closing.set(path, iids.set(iid, iids.get(iid) === true || isClosing))
  }
  const issues = new Map<number, boolean>()
  for (const [path, iids] of [...closing].slice(0, MAX_PROJECTS)) {
    const projectId = path === home.fullPath ? home.id : await projectWithPath(context, path)
    if (projectId === undefined) continue
    for (const some of chunked([...iids.keys()])) {
      const rows = await context.db
        .selectFrom('issues')
        .select(['id', 'iid'])
        .where('project_id', '=', projectId)
        .where('iid', 'in', some)
        .execute()
      for (const { id, iid } of rows) issues.set(id, iids.get(iid)!)
    }
  }
  return issues
}

/** Returns the full path of a project that a reference names. A name without slashes is one in the same namespace. */
const fullPathOf = (project: string | undefined, { fullPath }: Home): string => {
  if (project === undefined) return fullPath
  return project.includes('/') ? project : `${fullPath.slice(0, fullPath.lastIndexOf('/'))}/${project}`
}

async function projectWithPath({ db }: Pick<ReadContext, 'db'>, path: string): Promise<number | undefined> {
  const row = await db.selectFrom('projects').select('id').where('full_path', '=', path).executeTakeFirst()
  return row?.id
}
