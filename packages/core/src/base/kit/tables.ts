/**
 * Every table of the core. An area adds its own beside its queries:
 *
 * ```ts
 * declare module './tables.ts' {
 *   interface CoreTables { milestones: MilestonesTable }
 * }
 * ```
 *
 * Columns have the types that SQLite and PostgreSQL share: integers (times are milliseconds since 1970 and end in `_ms`,
 * booleans are 0 or 1), text (dates `YYYY-MM-DD`, JSON), and nothing else.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the areas fill it
export interface CoreTables {}
