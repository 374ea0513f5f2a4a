import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** The condition that every row meets. */
export const always: RawBuilder<SqlBool> = sql<SqlBool>`1 = 1`

/** The condition that no row meets. */
export const never: RawBuilder<SqlBool> = sql<SqlBool>`1 = 0`

/** Returns the condition that a column has one of the values. No row meets it if there are none. */
export const isOneOf = (column: RawBuilder<unknown>, values: readonly (number | string)[]): RawBuilder<SqlBool> =>
  values.length === 0 ? never : sql<SqlBool>`${column} in (${sql.join([...values])})`
