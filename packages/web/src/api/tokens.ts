import type { IngestToken, Signal, TokenLimits } from './answers.ts'

export const signals: readonly Signal[] = ['traces', 'metrics', 'logs', 'profiles']

/** A signal with limits of its own, or `all` for those of all signals together. */
export type LimitedSignal = keyof TokenLimits

export type TokenSummary = Pick<IngestToken, 'id' | 'name' | 'status'>
