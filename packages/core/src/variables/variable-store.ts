import type { Selectable } from 'kysely'
import { type ColumnsOf, fromRow, toRow } from '../kit/field-table.ts'
import { type Listing, listingOf } from '../kit/listing.ts'
import { type KeysetColumn, mapPage, type Page, type PageRequest, pageOf } from '../kit/page.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { belongsTo, type ParentColumns, type ParentRef, parentColumns, parentOfRow } from '../model/parent.ts'
import type { Project } from '../model/project.ts'
import type { Core, Tx } from '../operations/context.ts'
import { newNonce, sealText, unsealText } from './sealed-text.ts'
import { type Variable, type VariableDraft, variableDraft, variableFields, type variableOrders } from './variable.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    ci_variables: CiVariablesTable
  }
}

/** `sealed_value` is encrypted with AES-256-GCM, and bound to the parent and key. */
interface CiVariablesTable extends ParentColumns, ColumnsOf<typeof variableFields> {}
type Row = Selectable<CiVariablesTable>

const variablesOf = ({ db }: ReadContext, parent: ParentRef) =>
  db.selectFrom('ci_variables').selectAll('ci_variables').where(belongsTo(parent))

export async function pageOfVariables(
  core: Core,
  context: ReadContext,
  parent: ParentRef,
  request: PageRequest,
): Promise<Page<Variable>> {
  const query = variablesOf(context, parent).orderBy('id')
  return mapPage(await pageOf(context, query, request), (row) => variableOf(core, row))
}

export interface VariableOrder {
  readonly orderBy: (typeof variableOrders)[number]
  readonly sort: 'asc' | 'desc'
}

/** Returns the variables of each parent. */
export const variableListing = <Item>(
  core: Core,
  context: ReadContext,
  parents: readonly ParentRef[],
  order: VariableOrder,
  shown: (variable: Variable) => Item,
): Listing<Item> =>
  listingOf(
    context,
    parents.map((parent) => variablesOf(context, parent)),
    { order: orderColumnsOf(order), itemsOf: (rows) => rows.map((row) => shown(variableOf(core, row))) },
  )

/** A variable that a project inherits from a group. */
export interface InheritedVariable extends Omit<Variable, 'value'> {
  readonly groupName: string
  readonly groupFullPath: string
}

/** Returns the variables of all groups above each project. Values stay encrypted. */
export const inheritedVariableListing = (
  context: ReadContext,
  projects: readonly Project[],
  order: VariableOrder,
): Listing<InheritedVariable> =>
  listingOf(
    context,
    projects.map(({ groupIds }) =>
      context.db
        .selectFrom('ci_variables')
        .innerJoin('groups', 'groups.id', 'ci_variables.group_id')
        .selectAll('ci_variables')
        .select(['groups.name as group_name', 'groups.full_path as group_full_path'])
        .where('ci_variables.group_id', 'in', groupIds.length === 0 ? [0] : [...groupIds]),
    ),
    {
      order: orderColumnsOf(order),
      itemsOf: (rows) =>
        rows.map((row) => ({ ...withoutValue(row), groupName: row.group_name, groupFullPath: row.group_full_path })),
    },
  )

const orderColumnsOf = ({ orderBy, sort: direction }: VariableOrder): readonly KeysetColumn<Row>[] => [
  ...(orderBy === 'key' ? [{ column: 'ci_variables.key', key: 'key', direction } as const] : []),
  { column: 'ci_variables.id', key: 'id', direction },
]

/** Finds the variables with a key, ordered by id; with `environmentScope`, at most one. */
export async function findVariables(
  core: Core,
  context: ReadContext,
  parent: ParentRef,
  { key, environmentScope }: { readonly key: string; readonly environmentScope?: string | undefined },
): Promise<Variable[]> {
  const rows = await variablesOf(context, parent)
    .where('key', '=', key)
    .$if(environmentScope !== undefined, (query) => query.where('environment_scope', '=', environmentScope!))
    .orderBy('id')
    .execute()
  return rows.map((row) => variableOf(core, row))
}

/** A variable with a value that is still encrypted. */
export interface SealedVariable extends Omit<Variable, 'value'> {
  /** `undefined` if the variable belongs to the project. */
  readonly groupId: number | undefined
  readonly row: Row
}

/** Finds the variables of a project and groups, still encrypted; `keys` selects some of them. */
export async function findSealedVariables(
  { db }: ReadContext,
  { id, groupIds }: Pick<Project, 'id' | 'groupIds'>,
  keys?: readonly string[],
): Promise<SealedVariable[]> {
  const rows = await db
    .selectFrom('ci_variables')
    .selectAll()
    .where((eb) =>
      eb.or([eb('project_id', '=', id), ...(groupIds.length > 0 ? [eb('group_id', 'in', [...groupIds])] : [])]),
    )
    .$if(keys !== undefined, (query) => query.where('key', 'in', [...keys!]))
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...withoutValue(row), groupId: row.group_id ?? undefined, row }))
}

export const unsealVariable = (core: Core, { row }: SealedVariable): Variable => variableOf(core, row)

export async function countVariables({ db }: ReadContext, parent: ParentRef): Promise<number> {
  const { count } = await db
    .selectFrom('ci_variables')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(belongsTo(parent))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** @throws the database's error if another variable has the key and scope */
export async function insertVariable(
  core: Core,
  { db }: Tx,
  parent: ParentRef,
  draft: VariableDraft,
): Promise<Variable> {
  const row = await db
    .insertInto('ci_variables')
    .values({ ...parentColumns(parent), ...rowOf(core, parent, draft) })
    .returningAll()
    .executeTakeFirstOrThrow()
  return variableOf(core, row)
}

/** @throws the database's error if another variable has the key and scope */
export async function updateVariable(core: Core, { db }: Tx, parent: ParentRef, variable: Variable): Promise<Variable> {
  const row = await db
    .updateTable('ci_variables')
    .set(rowOf(core, parent, variable))
    .where('id', '=', variable.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return variableOf(core, row)
}

export async function deleteVariable({ db }: Tx, id: number): Promise<void> {
  await db.deleteFrom('ci_variables').where('id', '=', id).execute()
}

function rowOf({ settings, randomBytes }: Core, parent: ParentRef, draft: VariableDraft) {
  const sealed = sealText(settings.secretsKey, newNonce(randomBytes), placeOf(parent, draft.key), draft.value)
  return toRow(variableDraft, { ...draft, value: sealed })
}

function variableOf({ settings }: Core, row: Row): Variable {
  const variable = fromRow(variableFields, row)
  return { ...variable, value: unsealText(settings.secretsKey, placeOf(parentOfRow(row), row.key), variable.value) }
}

const placeOf = ({ kind, id }: ParentRef, key: string): string[] => ['ci_variable', kind, String(id), key]

function withoutValue(row: Row): Omit<Variable, 'value'> {
  const { value: _, ...variable } = fromRow(variableFields, row)
  return variable
}
