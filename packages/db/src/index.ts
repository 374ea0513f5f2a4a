export * from './migrate.ts'
export * from './sqlite.ts'
