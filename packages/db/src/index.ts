export * from './migrate.ts'
export * from './sqlite.ts'
export * from './table-with-id.ts'
