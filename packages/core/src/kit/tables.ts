/**
 * Every table of the domain. An area adds its own beside its queries:
 *
 * ```ts
 * declare module '../kit/tables.ts' {
 *   interface CoreTables { milestones: MilestonesTable }
 * }
 * ```
 *
 * Columns are what SQLite and PostgreSQL share: integers (times are milliseconds since 1970 and end in `_ms`, truth is 0 or 1),
 * text (dates `YYYY-MM-DD`, JSON), and nothing else.
 */
// biome-ignore lint/suspicious/noEmptyInterface: the areas fill it
export interface CoreTables {}
