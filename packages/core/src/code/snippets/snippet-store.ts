import type { Selectable } from 'kysely'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import { deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Actor } from '../../base/model/user.ts'
import type { Tx } from '../../base/operations/context.ts'
import { findProjects } from '../../identity/projects/project-store.ts'
import { findUsers } from '../../identity/users/user-store.ts'
import {
  type DescribedSnippet,
  describedSnippetFields,
  type Snippet,
  type SnippetDraft,
  type SnippetRecord,
  snippetDraft,
} from './snippet.ts'
import { isReadableSnippet } from './snippet-access.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    snippets: SnippetsTable
  }
}

interface SnippetsTable extends ColumnsOf<typeof describedSnippetFields> {}

/** Returns a page of the snippets of a project that the caller sees, newest first. */
export async function pageOfSnippets(
  context: ReadContext & { readonly actor: Actor },
  project: Project,
  page: PageRequest,
): Promise<Page<DescribedSnippet>> {
  const query = context.db
    .selectFrom('snippets')
    .innerJoin('projects', 'projects.id', 'snippets.project_id')
    .selectAll('snippets')
    .where('snippets.project_id', '=', project.id)
    .where(isReadableSnippet(context, context.actor, 'project'))
    .orderBy('snippets.id', 'desc')
  const rows = await pageOf(context, query, page)
  return { ...rows, items: await snippetsOfRows(context, rows.items, project) }
}

/** Returns a snippet, if it belongs to the project. Without a project, returns a snippet of any project or a personal one. */
export async function findSnippet(
  context: ReadContext,
  id: number,
  project?: Project,
): Promise<DescribedSnippet | undefined> {
  const row = await context.db.selectFrom('snippets').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined || (project !== undefined && row.project_id !== project.id)) return undefined
  return (await snippetsOfRows(context, [row], project))[0]
}

/** Returns the snippets of rows, in the order of the rows. */
async function snippetsOfRows(
  context: ReadContext,
  rows: readonly Selectable<SnippetsTable>[],
  project?: Project,
): Promise<DescribedSnippet[]> {
  const records = rows.map((row) => fromRow(describedSnippetFields, row))
  return withOwners(context, records, project)
}

/** Adds the author and the project to snippets. @param project that of all of them, if it is known */
export async function withOwners<Record extends SnippetRecord>(
  context: ReadContext,
  records: readonly Record[],
  project?: Project,
): Promise<(Record & Pick<Snippet, 'project' | 'author'>)[]> {
  const authors = await findUsers(
    context,
    records.flatMap(({ authorId }) => authorId ?? []),
  )
  const projectIds = project === undefined ? records.flatMap(({ projectId }) => projectId ?? []) : []
  const projects = await findProjects(context, projectIds)
  return records.map((record) => ({
    ...record,
    project: record.projectId === undefined ? undefined : (project ?? projects.get(record.projectId)),
    author: record.authorId === undefined ? undefined : authors.get(record.authorId),
  }))
}

interface NewSnippet {
  readonly id: number
  readonly project: Project | undefined
  readonly authorId: number
  readonly draft: SnippetDraft
  readonly files: readonly string[]
}

export async function insertSnippet(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  { id, project, authorId, draft, files }: NewSnippet,
): Promise<DescribedSnippet> {
  const row = await insertRow(tx, 'snippets', {
    id,
    project_id: project?.id ?? null,
    author_id: authorId,
    ...toRow(snippetDraft, draft),
    files: JSON.stringify(files),
    created_at_ms: tx.nowMs,
    updated_at_ms: tx.nowMs,
  })
  return (await snippetsOfRows(tx, [row], project))[0]!
}

export async function updateSnippetRow(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  { id, project }: Pick<Snippet, 'id' | 'project'>,
  draft: SnippetDraft,
  files: readonly string[],
): Promise<DescribedSnippet> {
  const columns = { ...toRow(snippetDraft, draft), files: JSON.stringify(files), updated_at_ms: tx.nowMs }
  return (await snippetsOfRows(tx, [await updateRow(tx, 'snippets', id, columns)], project))[0]!
}

export const deleteSnippet = (tx: Pick<Tx, 'db'>, id: number) => deleteRow(tx, 'snippets', id)
