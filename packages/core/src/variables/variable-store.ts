import type { Generated, Selectable } from 'kysely'
import type { Core, ReadContext, Tx } from '../kit/context.ts'
import { type Listing, listingOf } from '../kit/listing.ts'
import { type KeysetColumn, mapPage, type Page, type PageRequest, pageOf } from '../kit/page.ts'
import type { Project } from '../projects/project.ts'
import { newNonce, sealText, unsealText } from './sealed-text.ts'
import type { Variable, VariableDraft, VariableParent, VariableType } from './variable.ts'

declare module '../kit/tables.ts' {
  interface CoreTables {
    ci_variables: CiVariablesTable
  }
}

interface CiVariablesTable {
  id: Generated<number>
  /** Exactly one of `group_id` and `project_id` is set. */
  group_id: number | null
  project_id: number | null
  key: string
  /** The value encrypted with AES-256-GCM, bound to its parent and key. */
  sealed_value: string
  variable_type: VariableType
  is_protected: number
  is_masked: number
  is_hidden: number
  is_raw: number
  environment_scope: string
  description: string | null
}

type Row = Selectable<CiVariablesTable>

export async function pageOfVariables(
  core: Core,
  context: ReadContext,
  parent: VariableParent,
  request: PageRequest,
): Promise<Page<Variable>> {
  const query = context.db.selectFrom('ci_variables').selectAll().where(columnOf(parent), '=', parent.id).orderBy('id')
  return mapPage(await pageOf(context, query, request), (row) => variableOf(core, row))
}

export const variableOrders = ['id', 'key'] as const
export interface VariableOrder {
  readonly orderBy: (typeof variableOrders)[number]
  readonly sort: 'asc' | 'desc'
}

/** Returns the variables of each parent. */
export const variableListing = <Item>(
  core: Core,
  context: ReadContext,
  parents: readonly VariableParent[],
  order: VariableOrder,
  shown: (variable: Variable) => Item,
): Listing<Item> =>
  listingOf(
    context,
    parents.map((parent) =>
      context.db.selectFrom('ci_variables').selectAll('ci_variables').where(columnOf(parent), '=', parent.id),
    ),
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
        rows.map((row) => ({
          ...withoutValue(row),
          groupName: row.group_name,
          groupFullPath: row.group_full_path,
        })),
    },
  )

const orderColumnsOf = ({ orderBy, sort: direction }: VariableOrder): readonly KeysetColumn<Row>[] => [
  ...(orderBy === 'key' ? [{ column: 'ci_variables.key', key: 'key', direction } as const] : []),
  { column: 'ci_variables.id', key: 'id', direction },
]

/** Finds the variables with a key, ordered by id; with `environmentScope`, at most one. */
export async function findVariables(
  core: Core,
  { db }: ReadContext,
  parent: VariableParent,
  { key, environmentScope }: { readonly key: string; readonly environmentScope?: string | undefined },
): Promise<Variable[]> {
  const rows = await db
    .selectFrom('ci_variables')
    .selectAll()
    .where(columnOf(parent), '=', parent.id)
    .where('key', '=', key)
    .$if(environmentScope !== undefined, (query) => query.where('environment_scope', '=', environmentScope!))
    .orderBy('id')
    .execute()
  return rows.map((row) => variableOf(core, row))
}

export interface ParentIds {
  readonly projectId: number
  readonly groupIds: readonly number[]
}

/** Finds the variables of a project and groups, still encrypted; `keys` selects some of them. */
export async function findSealedVariables(
  { db }: ReadContext,
  { projectId, groupIds }: ParentIds,
  keys?: readonly string[],
): Promise<SealedVariable[]> {
  const rows = await db
    .selectFrom('ci_variables')
    .selectAll()
    .where((eb) =>
      eb.or([eb('project_id', '=', projectId), ...(groupIds.length > 0 ? [eb('group_id', 'in', [...groupIds])] : [])]),
    )
    .$if(keys !== undefined, (query) => query.where('key', 'in', [...keys!]))
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...withoutValue(row), groupId: row.group_id ?? undefined, row }))
}

/** A variable with a value that is still encrypted. */
export interface SealedVariable extends Omit<Variable, 'value'> {
  /** `undefined` if the variable belongs to the project. */
  readonly groupId: number | undefined
  readonly row: Row
}

export const unsealVariable = (core: Core, { row }: SealedVariable): Variable => variableOf(core, row)

export async function countVariables({ db }: ReadContext, parent: VariableParent): Promise<number> {
  const { count } = await db
    .selectFrom('ci_variables')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(columnOf(parent), '=', parent.id)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** @throws the database's error if another variable has the key and scope */
export async function insertVariable(
  core: Core,
  { db }: Tx,
  parent: VariableParent,
  draft: VariableDraft,
): Promise<Variable> {
  const row = await db
    .insertInto('ci_variables')
    .values({
      group_id: parent.kind === 'group' ? parent.id : null,
      project_id: parent.kind === 'project' ? parent.id : null,
      ...columnsOf(core, parent, draft),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return variableOf(core, row)
}

/** @throws the database's error if another variable has the key and scope */
export async function updateVariable(
  core: Core,
  { db }: Tx,
  parent: VariableParent,
  { id, ...draft }: Variable,
): Promise<Variable> {
  const row = await db
    .updateTable('ci_variables')
    .set(columnsOf(core, parent, draft))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return variableOf(core, row)
}

export async function deleteVariable({ db }: Tx, id: number): Promise<void> {
  await db.deleteFrom('ci_variables').where('id', '=', id).execute()
}

const columnOf = ({ kind }: VariableParent) => (kind === 'group' ? 'group_id' : 'project_id')

function columnsOf({ settings, randomBytes }: Core, { kind, id }: VariableParent, draft: VariableDraft) {
  const place = placeOf(kind, id, draft.key)
  return {
    key: draft.key,
    sealed_value: sealText(settings.secretsKey, newNonce(randomBytes), place, draft.value),
    variable_type: draft.type,
    is_protected: Number(draft.isProtected),
    is_masked: Number(draft.isMasked),
    is_hidden: Number(draft.isHidden),
    is_raw: Number(draft.isRaw),
    environment_scope: draft.environmentScope,
    description: draft.description ?? null,
  }
}

function variableOf({ settings }: Core, row: Row): Variable {
  const place =
    row.group_id === null ? placeOf('project', row.project_id!, row.key) : placeOf('group', row.group_id, row.key)
  return { ...withoutValue(row), value: unsealText(settings.secretsKey, place, row.sealed_value) }
}

const placeOf = (kind: VariableParent['kind'], id: number, key: string): string[] => [
  'ci_variable',
  kind,
  String(id),
  key,
]

function withoutValue(row: Row): Omit<Variable, 'value'> {
  return {
    id: row.id,
    key: row.key,
    type: row.variable_type,
    isProtected: row.is_protected === 1,
    isMasked: row.is_masked === 1,
    isHidden: row.is_hidden === 1,
    isRaw: row.is_raw === 1,
    environmentScope: row.environment_scope,
    description: row.description ?? undefined,
  }
}
