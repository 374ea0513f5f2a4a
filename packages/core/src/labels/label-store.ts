import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Subject } from '../access/subject.ts'
import { allowedInGroup, allowedInProject } from '../access/visible-store.ts'
import { lineageOf } from '../groups/group-store.ts'
import { containsText } from '../kit/contains-text.ts'
import { type ColumnsOf, columnsOf, fromRow, newObject, toRow } from '../kit/field-table.ts'
import { type Listing, type ListingOptions, listingOf } from '../kit/listing.ts'
import { mapPage, type Page, type PageRequest, pageOf } from '../kit/page.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { parentColumns } from '../model/parent.ts'
import type { Project } from '../model/project.ts'
import type { Actor } from '../model/user.ts'
import type { Tx } from '../operations/context.ts'
import {
  type DescribedLabel,
  describedLabelFields,
  type Label,
  type LabelDraft,
  labelDraft,
  labelFields,
} from './label.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    labels: LabelsTable
  }
}

interface LabelsTable extends ColumnsOf<typeof describedLabelFields> {}

/** Selects the labels of a group or project, or also those of the groups above it. */
export interface LabelScope {
  readonly subject: Subject
  readonly withInherited: boolean
  /** For a group, also selects the labels of everything below it that the actor may see. */
  readonly below?: { readonly withGroups: boolean; readonly withProjects: boolean }
}

export interface LabelFilter extends LabelScope {
  /** A part of the name or description, ignoring letter case. */
  readonly search?: string | undefined
  /** Default: both. */
  readonly searchIn?: readonly ('name' | 'description')[] | undefined
  /** The exact name. */
  readonly title?: string | undefined
  /** `true` yields an empty list, because labels cannot be archived. */
  readonly archived?: boolean | undefined
}

/** Returns one page of labels, ordered by name. */
export async function pageOfLabels(
  context: ReadContext,
  filter: LabelFilter,
  page: PageRequest,
): Promise<Page<DescribedLabel>> {
  const query = wantedLabels(context, undefined, filter).select('description').orderBy('name').orderBy('id')
  return mapPage(await pageOf(context, query, page), (row) => fromRow(describedLabelFields, row))
}

/** Lists the labels of each filter, ordered by name. */
export const labelListing = (context: ReadContext, actor: Actor, filters: readonly LabelFilter[]): Listing<Label> =>
  listingOf(
    context,
    filters.map((filter) => wantedLabels(context, actor, filter)),
    labelsByName,
  )

/** The options of listings of labels. */
export const labelsByName: ListingOptions<LabelRow, Label> = {
  order: [
    { column: 'name', key: 'name', direction: 'asc' },
    { column: 'id', key: 'id', direction: 'asc' },
  ],
  itemsOf: (rows) => rows.map((row) => fromRow(labelFields, row)),
}
type LabelRow = Selectable<ColumnsOf<typeof labelFields>>

function wantedLabels(
  context: ReadContext,
  actor: Actor,
  { title, search, searchIn = ['name', 'description'], archived = false, ...scope }: LabelFilter,
) {
  return labelsIn(context, scope, actor)
    .select(columnsOf(labelFields))
    .$if(archived, (all) => all.where(sql<SqlBool>`1 = 0`))
    .$if(title !== undefined, (all) => all.where('name', '=', title!))
    .$if(search !== undefined, (all) => all.where(containsText([...searchIn], search!)))
}

/** Finds a label by id, else by name. If several have the name, a label of the project comes before one of its groups. */
export async function findLabel(
  context: ReadContext,
  scope: LabelScope,
  ref: number | string,
): Promise<DescribedLabel | undefined> {
  const byId = typeof ref === 'number' && (await labelsIn(context, scope).selectAll().where('id', '=', ref).execute())
  if (byId && byId[0] !== undefined) return fromRow(describedLabelFields, byId[0])
  const rows = await labelsIn(context, scope).selectAll().where('name', '=', String(ref)).orderBy('id').execute()
  const row = rows.find((row) => row.project_id !== null) ?? rows[0]
  return row && fromRow(describedLabelFields, row)
}

export async function insertLabel({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, subject: Subject, draft: LabelDraft) {
  const row = await db
    .insertInto('labels')
    .values({ ...parentColumns(subject), ...toRow(labelDraft, draft), created_at_ms: nowMs })
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(describedLabelFields, row)
}

export async function updateLabel({ db }: Tx, id: number, draft: LabelDraft): Promise<DescribedLabel> {
  const row = await db
    .updateTable('labels')
    .set(toRow(labelDraft, draft))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return fromRow(describedLabelFields, row)
}

export async function deleteLabel({ db }: Tx, id: number): Promise<void> {
  await db.deleteFrom('labels').where('id', '=', id).execute()
}

/** Returns the ids of the labels with these names in the project and its groups. Creates missing labels. */
export async function labelIdsOf(tx: Tx, project: Project, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return []
  const rows = await labelsIn(tx, { subject: project, withInherited: true })
    .select(['id', 'name', 'project_id'])
    .where('name', 'in', [...names])
    .orderBy('id')
    .execute()
  const ids: number[] = []
  for (const name of names) {
    const named = rows.filter((row) => row.name === name)
    const row = named.find((row) => row.project_id !== null) ?? named[0]
    const { id } = row ?? (await insertLabel(tx, project, newObject(labelDraft, { name })))
    ids.push(id)
  }
  return ids
}

/** Returns the label with the name for each subject: its own, else the oldest of the groups above it. */
export async function labelOfEach(
  { db }: ReadContext,
  subjects: readonly Subject[],
  name: string,
): Promise<(Label | undefined)[]> {
  const rows = await db
    .selectFrom('labels')
    .select(columnsOf(labelFields))
    .where('name', '=', name)
    .where((eb) =>
      eb.or([
        eb('group_id', 'in', [NONE, ...new Set(subjects.flatMap(({ groupIds }) => groupIds))]),
        eb('project_id', 'in', [NONE, ...subjects.flatMap(({ kind, id }) => (kind === 'project' ? id : []))]),
      ]),
    )
    .orderBy('id')
    .execute()
  return subjects.map(({ kind, id, groupIds }) => {
    const own = rows.find((row) => kind === 'project' && row.project_id === id)
    const row = own ?? rows.find(({ group_id }) => group_id !== null && groupIds.includes(group_id))
    return row && fromRow(labelFields, row)
  })
}

/** The id of no group or project. Added to lists of ids, because SQL allows no empty list. */
const NONE = 0

function labelsIn(context: ReadContext, { subject, withInherited, below }: LabelScope, actor?: Actor) {
  const { db } = context
  return db.selectFrom('labels').where((eb) => {
    const groupIds = withInherited ? [...subject.groupIds] : subject.kind === 'group' ? [subject.id] : []
    const lineage = lineageOf(subject.groupIds)
    const groupsBelow = db.selectFrom('groups').select('groups.id').where('groups.lineage', 'like', `${lineage}_%`)
    const projectsIn = db
      .selectFrom('projects')
      .select('projects.id')
      .where('projects.lineage', 'like', below?.withGroups ? `${lineage}%` : lineage)
    return eb.or([
      ...(groupIds.length > 0 ? [eb('group_id', 'in', groupIds)] : []),
      ...(subject.kind === 'project' ? [eb('project_id', '=', subject.id)] : []),
      ...(below?.withGroups
        ? [eb('group_id', 'in', groupsBelow.where(allowedInGroup(context, actor, 'read_label')))]
        : []),
      ...(below?.withProjects
        ? [eb('project_id', 'in', projectsIn.where(allowedInProject(context, actor, 'read_label')))]
        : []),
    ])
  })
}
