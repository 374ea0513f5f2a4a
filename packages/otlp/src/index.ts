export * from './signals.ts'
export * from './types.ts'
