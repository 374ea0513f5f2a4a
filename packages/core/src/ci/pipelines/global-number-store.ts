import { Lookup, RowInsertion } from '@penstock/db'
import { chunked } from '../../base/kit/chunked.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Tx } from '../../base/operations/context.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    pipeline_numbers: GlobalNumbersTable
    job_numbers: GlobalNumbersTable
  }
}

/**
 * One row for each pipeline or job that a project has ever recorded. Rows are never deleted, so that a number keeps its
 * meaning when its pipeline, its job or its project is deleted.
 */
interface GlobalNumbersTable {
  /** The number in the Global ID. */
  number: number
  project_id: number
  /** The id within the project. */
  own_id: number
}

type NumbersTable = 'pipeline_numbers' | 'job_numbers'

/**
 * The first of the numbers that are assigned to pipelines and jobs if another project recorded their id earlier. An id
 * in this range is never a Global ID itself, so no id, recorded now or later, can equal the number of another object.
 */
export const FIRST_ASSIGNED_NUMBER = 2 ** 52

/** The first id of pipelines and jobs that were posted as statuses of commits. They end before `FIRST_ASSIGNED_NUMBER`. */
export const FIRST_POSTED_ID = 2 ** 51

/**
 * Returns a map from ids of a project's pipelines or jobs to the numbers in their Global IDs. Creates the numbers that
 * do not exist yet. The first project that asks for an id gets the id itself. Writers take turns, so two projects
 * cannot both be the first.
 */
export async function claimGlobalNumbers(
  tx: Tx,
  table: NumbersTable,
  projectId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const numbers = new Map<number, number>()
  for (const part of chunked([...new Set(ids)])) {
    for (const [id, number] of await claimPart(tx, table, projectId, part)) numbers.set(id, number)
  }
  return numbers
}

async function claimPart(
  tx: Tx,
  table: NumbersTable,
  projectId: number,
  ids: readonly number[],
): Promise<Map<number, number>> {
  const { db } = tx
  const small = ids.filter((id) => id < FIRST_ASSIGNED_NUMBER)
  const ownerOf = await ownersOf(db, table, small)
  const firsts = small.filter((id) => (ownerOf.get(id) ?? projectId) === projectId)
  const newRows = firsts
    .filter((id) => !ownerOf.has(id))
    .map((id) => ({ number: id, project_id: projectId, own_id: id }))
  await insertNumbers[table].run(db, newRows)
  const numbers = new Map(firsts.map((id) => [id, id]))
  if (numbers.size === ids.length) return numbers

  const others = ids.filter((id) => !numbers.has(id))
  const assigned = await db
    .selectFrom(table)
    .select(({ fn }) => ['own_id', fn.min<number>('number').as('number')])
    .where('project_id', '=', projectId)
    .where('own_id', 'in', others)
    .where('number', '>=', FIRST_ASSIGNED_NUMBER)
    .groupBy('own_id')
    .execute()
  for (const { own_id, number } of assigned) numbers.set(own_id, Number(number))
  const missing = others.filter((id) => !numbers.has(id))
  for (const [id, number] of await assignGlobalNumbers(tx, table, projectId, missing)) numbers.set(id, number)
  return numbers
}

/** Assigns each id of a project a number that was never used before, and returns the numbers by id. */
export async function assignGlobalNumbers(
  { db }: Tx,
  table: NumbersTable,
  projectId: number,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const numbers = new Map<number, number>()
  if (ids.length === 0) return numbers
  const { last } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.max('number').as('last'))
    .executeTakeFirstOrThrow()
  let next = Math.max(FIRST_ASSIGNED_NUMBER, Number(last ?? 0) + 1)
  for (const id of ids) numbers.set(id, next++)
  for (const part of chunked([...numbers])) {
    const rows = part.map(([id, number]) => ({ number, project_id: projectId, own_id: id }))
    await insertNumbers[table].run(db, rows)
  }
  return numbers
}

const insertionInto = (table: NumbersTable) =>
  new RowInsertion<CoreTables, GlobalNumbersTable>(['number', 'project_id', 'own_id'], (tx, rows) =>
    tx.insertInto(table).values(rows),
  )
const insertNumbers = {
  pipeline_numbers: insertionInto('pipeline_numbers'),
  job_numbers: insertionInto('job_numbers'),
}

const ownersIn = (table: NumbersTable) =>
  new Lookup((db: ReadContext['db'], ...numbers: number[]) =>
    db.selectFrom(table).select(['number', 'project_id']).where('number', 'in', numbers),
  )
const owners = { pipeline_numbers: ownersIn('pipeline_numbers'), job_numbers: ownersIn('job_numbers') }

/** Returns a map from each number to the id of the project that owns it. */
async function ownersOf(
  db: ReadContext['db'],
  table: NumbersTable,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (numbers.length === 0) return new Map()
  const rows = await owners[table].all(db, ...numbers)
  return new Map(rows.map((row) => [row.number, row.project_id]))
}

/** Returns whether another project was the first to record this id. Creates no number. */
export async function isClaimedByOtherProject(
  { db }: ReadContext,
  table: NumbersTable,
  projectId: number,
  id: number,
): Promise<boolean> {
  if (id >= FIRST_ASSIGNED_NUMBER) return true
  const row = await db.selectFrom(table).select('project_id').where('number', '=', id).executeTakeFirst()
  return row !== undefined && row.project_id !== projectId
}
