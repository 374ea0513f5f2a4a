export { type Clock, systemClock } from './clock.ts'
export { jsonLog, type Log, silentLog } from './log.ts'
export type { Random } from './random.ts'
