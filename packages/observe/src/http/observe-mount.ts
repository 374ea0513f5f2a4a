import type { z } from 'zod'
import type { LiveStreams } from '../live/live-streams.ts'
import type { Observe } from '../observe.ts'
import type { TooLargeAnswer } from '../ports/store-queries.ts'

/** The application in which the routes are served. */
export interface ObserveMount<Context, Access> {
  readonly store: Pick<Observe, 'answer'>
  /** The open streams of `live`; `undefined` if the store has no live updates. */
  readonly streams: LiveStreams | undefined
  /** Returns the caller that the limit on streams applies to. */
  callerOf(context: Context): string
  /** Returns the API's own error for a caller with too many streams. */
  tooManyStreams(): Error
  /** The access that every route requires. */
  readonly access: Access
  /** Returns the parsed input, or throws the API's own error. */
  parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema>
  /** Returns the API's own error for a store that cannot answer at the moment. */
  unavailable(): Error
  /** Returns the API's own error for a query that the store does not support. */
  notSupported(): Error
  /** Returns the API's own error for an answer that would be too large. */
  answerTooLarge(answer: TooLargeAnswer): Error
  /** Returns the API's own error for a trace without stored spans. */
  traceNotFound(): Error
}
