import { z } from 'zod'
import { flag, int } from './field-table.ts'

/** The largest value of a 32-bit column, and of an `Int` in GraphQL. */
export const MAX_INTEGER = 2_147_483_647

/** A flag that is set by default. */
export const on = <Column extends string>(column: Column) => flag(column).default(true)
/** A flag that is not set by default. */
export const off = <Column extends string>(column: Column) => flag(column).default(false)
/** An integer between two bounds, both inclusive. */
export const bounded = <Column extends string>(column: Column, min: number, max: number) =>
  int(column).parse(z.int().min(min).max(max))
