export * from './sqlite.ts'
