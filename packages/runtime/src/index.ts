export { type Clock, systemClock } from './clock.ts'
export type { Random } from './random.ts'
