import { Lookup } from '@penstock/db'
import type { ExpressionBuilder, Selectable } from 'kysely'
import { notFound } from '../../base/kit/domain-error.ts'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { countRows, deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { type Hook, hookDraft, hookFields, isExecutable } from './hook.ts'
import { sealSecrets, unsealSecrets } from './hook-secrets.ts'
import { type HookSwitchName, switchColumn } from './hook-switches.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    hooks: HooksTable
  }
}

type Columns = ColumnsOf<typeof hookFields>
interface HooksTable extends Columns {
  /** JSON of the secrets, encrypted for the URL of the hook. */
  secrets: string
}

type WithCore<Context> = Context & { readonly core: Pick<Core, 'settings' | 'randomBytes'> }

export const pageOfHooks = (
  context: WithCore<ReadContext>,
  projectId: number,
  page: PageRequest,
): Promise<Page<Hook>> =>
  pageOfItems(
    context,
    context.db.selectFrom('hooks').selectAll().where('project_id', '=', projectId).orderBy('id'),
    page,
    (row) => hookOf(context, row),
  )

export async function findHook(
  context: WithCore<ReadContext>,
  id: number,
  projectId?: number,
): Promise<Hook | undefined> {
  const row = await context.db
    .selectFrom('hooks')
    .selectAll()
    .where('id', '=', id)
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
    .executeTakeFirst()
  return row && hookOf(context, row)
}

/** @throws DomainError `not_found` */
export async function getHook(context: WithCore<ReadContext>, projectId: number, id: number): Promise<Hook> {
  const hook = await findHook(context, id, projectId)
  if (hook === undefined) throw notFound()
  return hook
}

/** A hook that an event may call, as far as that decision needs it. */
export type CalledHook = Pick<Hook, 'id' | 'branchFilterStrategy' | 'pushEventsBranchFilter'> & {
  readonly switches: ReadonlySet<HookSwitchName>
}

/** Returns the executable hooks of a project that have at least one of the switches, by id. */
export async function hooksToCall(
  { db, nowMs }: ReadContext,
  projectId: number,
  names: readonly HookSwitchName[],
): Promise<CalledHook[]> {
  const key = names.join()
  const hooks = hooksWithOneOf.get(key) ?? lookupOf(names)
  hooksWithOneOf.set(key, hooks)
  const rows = await hooks.all(db, projectId)
  return rows
    .filter((row) =>
      isExecutable({ recentFailures: row.recent_failures, disabledUntilMs: row.disabled_until_ms ?? undefined }, nowMs),
    )
    .map((row) => ({
      id: row.id,
      branchFilterStrategy: row.branch_filter_strategy,
      pushEventsBranchFilter: row.push_events_branch_filter ?? undefined,
      switches: new Set(names.filter((name) => row[switchColumn(name)] === 1)),
    }))
}

/** The statements of `hooksToCall`, by the names of the switches. There is one for each event. */
const hooksWithOneOf = new Map<string, ReturnType<typeof lookupOf>>()

const lookupOf = (names: readonly HookSwitchName[]) =>
  new Lookup((db: ReadContext['db'], projectId: number) =>
    db
      .selectFrom('hooks')
      .select(['id', 'branch_filter_strategy', 'push_events_branch_filter', 'recent_failures', 'disabled_until_ms'])
      .select(names.map((name) => switchColumn(name)))
      .where('project_id', '=', projectId)
      .where(hasOneOf(names))
      .orderBy('id'),
  )

const hasOneOf = (names: readonly HookSwitchName[]) => (eb: ExpressionBuilder<CoreTables, 'hooks'>) =>
  eb.or(names.map((name) => eb(eb.ref(switchColumn(name)), '=', 1)))

export const countHooks = (context: ReadContext, projectId: number): Promise<number> =>
  countRows(context, 'hooks', (eb) => eb('project_id', '=', projectId))

type NewHook = Pick<Hook, keyof typeof hookDraft | 'secrets'>

export async function insertHook(tx: WithCore<Tx>, projectId: number, hook: NewHook): Promise<Hook> {
  const row = await insertRow(tx, 'hooks', {
    ...toRow(hookDraft, hook),
    project_id: projectId,
    recent_failures: 0,
    disabled_until_ms: null,
    secrets: sealSecrets(tx.core, { projectId, url: hook.url }, hook.secrets),
    created_at_ms: tx.nowMs,
    updated_at_ms: tx.nowMs,
  })
  return hookOf(tx, row)
}

export async function updateHook(tx: WithCore<Tx>, hook: Hook): Promise<Hook> {
  const row = await updateRow(tx, 'hooks', hook.id, {
    ...toRow(hookDraft, hook),
    secrets: sealSecrets(tx.core, hook, hook.secrets),
    updated_at_ms: tx.nowMs,
  })
  return hookOf(tx, row)
}

/** Stores the failures of a hook in a row, and until when it is paused. */
export async function setHookHealth(
  { db }: Pick<Tx, 'db'>,
  id: number,
  { recentFailures, disabledUntilMs }: Pick<Hook, 'recentFailures' | 'disabledUntilMs'>,
): Promise<void> {
  await db
    .updateTable('hooks')
    .set({ recent_failures: recentFailures, disabled_until_ms: disabledUntilMs ?? null })
    .where('id', '=', id)
    .execute()
}

export const deleteHook = (tx: Tx, id: number) => deleteRow(tx, 'hooks', id)

function hookOf({ core }: WithCore<object>, row: Selectable<HooksTable>): Hook {
  const hook = fromRow(hookFields, row)
  return { ...hook, secrets: unsealSecrets(core, hook, row.secrets) }
}
