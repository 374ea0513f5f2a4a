import type { Selectable } from 'kysely'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Listing, listingOf } from '../../base/kit/listing.ts'
import { type KeysetColumn, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { countRows, deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { belongsTo, type ParentColumns, type ParentRef, parentColumns, parentOfRow } from '../../base/model/parent.ts'
import type { Project } from '../../base/model/project.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { newNonce, sealText, unsealText } from '../../base/secrets/sealed-text.ts'
import { isInScope } from '../../identity/parents/parent-scope-store.ts'
import {
  type ShownVariable,
  shownVariable,
  type Variable,
  type VariableDraft,
  type VariableOrder,
  variableDraft,
  variableFields,
} from './variable.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    ci_variables: CiVariablesTable
  }
}

/** `sealed_value` is encrypted with AES-256-GCM, and bound to the parent and key. */
interface CiVariablesTable extends ParentColumns, ColumnsOf<typeof variableFields> {}
type Row = Selectable<CiVariablesTable>

/** A context that also has the core, which contains the key that encrypts values. */
type WithCore<Context> = Context & Pick<OperationContext, 'core'>

const variablesOf = ({ db }: ReadContext, parent: ParentRef) =>
  db.selectFrom('ci_variables').selectAll('ci_variables').where(belongsTo(parent))

export const pageOfVariables = (context: WithCore<ReadContext>, parent: ParentRef, page: PageRequest) =>
  pageOfItems(context, variablesOf(context, parent).orderBy('id'), page, (row) => shownVariableOf(context, row))

/** Returns the variables of each parent. */
export const variableListing = (
  context: WithCore<ReadContext>,
  parents: readonly ParentRef[],
  order: VariableOrder,
): Listing<ShownVariable> =>
  listingOf(
    context,
    parents.map((parent) => variablesOf(context, parent)),
    { order: orderColumnsOf(order), itemsOf: (rows) => rows.map((row) => shownVariableOf(context, row)) },
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
  context: WithCore<ReadContext>,
  parent: ParentRef,
  { key, environmentScope }: { readonly key: string; readonly environmentScope?: string | undefined },
): Promise<Variable[]> {
  const rows = await variablesOf(context, parent)
    .where('key', '=', key)
    .$if(environmentScope !== undefined, (query) => query.where('environment_scope', '=', environmentScope!))
    .orderBy('id')
    .execute()
  return rows.map((row) => variableOf(context, row))
}

/** A variable with a value that is still encrypted. */
export interface SealedVariable extends Omit<Variable, 'value'> {
  readonly row: Row
}

/**
 * Returns the variables of the project, then of its groups from the nearest up, still encrypted; `keys` selects some of
 * them.
 */
export async function variableLevelsOf(
  context: ReadContext,
  project: Project,
  keys?: readonly string[],
): Promise<SealedVariable[][]> {
  const rows = await context.db
    .selectFrom('ci_variables')
    .selectAll()
    .where(isInScope(context, { parent: project, above: true }))
    .$if(keys !== undefined, (query) => query.where('key', 'in', [...keys!]))
    .orderBy('id')
    .execute()
  const sealed = rows.map((row) => ({ ...withoutValue(row), row }))
  return [null, ...project.groupIds.toReversed()].map((id) => sealed.filter(({ row }) => row.group_id === id))
}

export const unsealVariable = (context: Pick<OperationContext, 'core'>, { row }: SealedVariable): Variable =>
  variableOf(context, row)

export const countVariables = (context: ReadContext, parent: ParentRef): Promise<number> =>
  countRows(context, 'ci_variables', belongsTo(parent))

/** @throws the database's error if another variable has the key and scope */
export const insertVariable = async (tx: WithCore<Tx>, parent: ParentRef, draft: VariableDraft): Promise<Variable> =>
  variableOf(tx, await insertRow(tx, 'ci_variables', { ...parentColumns(parent), ...rowOf(tx, parent, draft) }))

/** @throws the database's error if another variable has the key and scope */
export const updateVariable = async (tx: WithCore<Tx>, parent: ParentRef, variable: Variable): Promise<Variable> =>
  variableOf(tx, await updateRow(tx, 'ci_variables', variable.id, rowOf(tx, parent, variable)))

export const deleteVariable = (tx: Tx, id: number) => deleteRow(tx, 'ci_variables', id)

function rowOf({ core: { settings, randomBytes } }: WithCore<object>, parent: ParentRef, draft: VariableDraft) {
  const sealed = sealText(settings.secretsKey, newNonce(randomBytes), variablePlace(parent, draft.key), draft.value)
  return toRow(variableDraft, { ...draft, value: sealed })
}

function variableOf({ core: { settings } }: WithCore<object>, row: Row): Variable {
  const variable = fromRow(variableFields, row)
  return {
    ...variable,
    value: unsealText(settings.secretsKey, variablePlace(parentOfRow(row), row.key), variable.value),
  }
}

const shownVariableOf = (context: WithCore<object>, row: Row): ShownVariable => shownVariable(variableOf(context, row))

/** Returns the place to which the encryption of a value is bound. */
export const variablePlace = ({ kind, id }: ParentRef, key: string): string[] => ['ci_variable', kind, String(id), key]

function withoutValue(row: Row): Omit<Variable, 'value'> {
  const { value: _, ...variable } = fromRow(variableFields, row)
  return variable
}
