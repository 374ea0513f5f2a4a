import type { Selectable } from 'kysely'
import type { Subject } from '../../base/access/subject.ts'
import { never } from '../../base/kit/conditions.ts'
import { containsText } from '../../base/kit/contains-text.ts'
import { type ColumnsOf, columnsOf, fromRow, newObject, toRow } from '../../base/kit/field-table.ts'
import { type Listing, type ListingOptions, listingOf } from '../../base/kit/listing.ts'
import { ascending, type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { parentColumns, parentIds } from '../../base/model/parent.ts'
import type { Project } from '../../base/model/project.ts'
import type { ActorContext, Tx } from '../../base/operations/context.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { isInScope, type ParentScope } from '../../identity/parents/parent-scope-store.ts'
import {
  DEFAULT_COLOR,
  type DescribedLabel,
  describedLabelFields,
  type Label,
  type LabelDraft,
  labelDraft,
  labelEvents,
  labelFields,
} from './label.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    labels: LabelsTable
  }
}

interface LabelsTable extends ColumnsOf<typeof describedLabelFields> {}

export interface LabelFilter extends ParentScope {
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
export const pageOfLabels = (
  context: ReadContext,
  filter: LabelFilter,
  page: PageRequest,
): Promise<Page<DescribedLabel>> => {
  const query = wantedLabels(context, filter).select('description').orderBy('name').orderBy('id')
  return pageOfItems(context, query, page, (row) => fromRow(describedLabelFields, row))
}

/** Lists the labels of each filter, ordered by name. */
export const labelListing = (context: ActorContext, filters: readonly LabelFilter[]): Listing<Label> =>
  listingOf(
    context,
    filters.map((filter) => wantedLabels(context, filter)),
    labelsByName,
  )

/** The options of listings of labels. */
export const labelsByName: ListingOptions<LabelRow, Label> = {
  order: ascending('name', 'id'),
  itemsOf: (rows) => rows.map((row) => fromRow(labelFields, row)),
}
type LabelRow = Selectable<ColumnsOf<typeof labelFields>>

function wantedLabels(
  context: ActorContext,
  { title, search, searchIn = ['name', 'description'], archived = false, ...scope }: LabelFilter,
) {
  return labelsIn(context, scope)
    .select(columnsOf(labelFields))
    .$if(archived, (all) => all.where(never))
    .$if(title !== undefined, (all) => all.where('name', '=', title!))
    .$if(search !== undefined, (all) =>
      all.where(
        containsText(
          context,
          searchIn.map((name) => `labels.${name}`),
          search!,
        ),
      ),
    )
}

/** Finds a label by id, else by name. If several have the name, a label of the project comes before one of its groups. */
export async function findLabel(
  context: ReadContext,
  scope: ParentScope,
  ref: number | string,
): Promise<DescribedLabel | undefined> {
  const labels = labelsIn(context, scope).selectAll().orderBy('id')
  const byId = typeof ref === 'number' ? await labels.where('id', '=', ref).executeTakeFirst() : undefined
  const row = byId ?? nearest(await labels.where('name', '=', String(ref)).execute())
  return row && fromRow(describedLabelFields, row)
}

export async function insertLabel(
  tx: Pick<Tx, 'db' | 'nowMs'>,
  subject: Subject,
  draft: LabelDraft,
): Promise<DescribedLabel> {
  const columns = { ...parentColumns(subject), ...toRow(labelDraft, draft), created_at_ms: tx.nowMs }
  return fromRow(describedLabelFields, await insertRow(tx, 'labels', columns))
}

export const updateLabel = async (tx: Tx, id: number, draft: LabelDraft): Promise<DescribedLabel> =>
  fromRow(describedLabelFields, await updateRow(tx, 'labels', id, toRow(labelDraft, draft)))

export const deleteLabel = (tx: Tx, id: number) => deleteRow(tx, 'labels', id)

async function createLabelNamed(tx: Tx, project: Project, name: string): Promise<Label> {
  const label = await insertLabel(tx, project, newObject(labelDraft, { name, color: DEFAULT_COLOR }))
  await recordChange(tx, labelEvents, 'created', { after: label, ...parentIds(project) })
  return label
}

/** Returns the ids of the labels with these names in the project and its groups. Creates missing labels. */
export async function labelIdsOf(tx: Tx, project: Project, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return []
  const rows = await labelsIn(tx, { parent: project, above: true })
    .select(['id', 'name', 'project_id'])
    .where('name', 'in', [...names])
    .orderBy('id')
    .execute()
  const ids: number[] = []
  for (const name of names) {
    const row = nearest(rows.filter((row) => row.name === name))
    const { id } = row ?? (await createLabelNamed(tx, project, name))
    ids.push(id)
  }
  return ids
}

/** Returns for each subject the label with this name: its own label, else the oldest label of any group above it. */
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

/** An id that no group or project has. It is added to lists of ids, because SQL allows no empty list. */
const NONE = 0

/** Returns the row of the project, or else the first one. */
const nearest = <Row extends { readonly project_id: number | null }>(rows: readonly Row[]): Row | undefined =>
  rows.find((row) => row.project_id !== null) ?? rows[0]

const labelsIn = (context: ActorContext, scope: ParentScope) =>
  context.db
    .selectFrom('labels')
    .where(isInScope(context, scope, { groupsBelow: 'read_label', projectsBelow: 'read_label' }))
