import type { Expression, ExpressionBuilder, Insertable, Kysely, Selectable, SqlBool, Updateable } from 'kysely'
import type { CoreTables } from './tables.ts'

// The statements that most areas need for one row of their table.

/** The names of tables with an id. */
type Tables = {
  [Table in keyof CoreTables]: CoreTables[Table] extends { id: unknown } ? Table : never
}[keyof CoreTables]
type Row<Table extends Tables> = Selectable<CoreTables[Table]>
interface Writes {
  readonly db: Kysely<CoreTables>
}

/**
 * Kysely cannot type a statement or a condition when the table is a type parameter. The signatures below check the columns instead.
 */
const untyped = ({ db }: Writes) => db as unknown as Kysely<Record<string, Record<string, unknown>>>

/** Inserts a row and returns it with its id. @throws the database's error if the row violates a constraint */
export async function insertRow<Table extends Tables>(
  context: Writes,
  table: Table,
  values: Insertable<CoreTables[Table]>,
): Promise<Row<Table>> {
  return (await untyped(context)
    .insertInto(table as string)
    .values(values)
    .returningAll()
    .executeTakeFirstOrThrow()) as Row<Table>
}

/** Sets some columns of the row with this id, and returns the row. @throws like `insertRow` */
export async function updateRow<Table extends Tables>(
  context: Writes,
  table: Table,
  id: number,
  columns: Updateable<CoreTables[Table]>,
): Promise<Row<Table>> {
  const update = untyped(context)
    .updateTable(table as string)
    .set(columns)
    .where('id', '=', id)
    .returningAll()
  return (await update.executeTakeFirstOrThrow()) as Row<Table>
}

/** Returns the number of rows for which the condition holds. */
export async function countRows<Table extends Tables>(
  context: { readonly db: Kysely<CoreTables> },
  table: Table,
  condition: (eb: ExpressionBuilder<CoreTables, Table>) => Expression<SqlBool>,
): Promise<number> {
  const counted = untyped(context)
    .selectFrom(table as string)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(condition as never)
  return Number((await counted.executeTakeFirstOrThrow()).count)
}

export async function deleteRow(context: Writes, table: Tables, id: number): Promise<void> {
  await untyped(context)
    .deleteFrom(table as string)
    .where('id', '=', id)
    .execute()
}
