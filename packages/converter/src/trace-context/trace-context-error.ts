/**
 * The error for an environment that lacks values which a trace context needs. The message is one line for the author of
 * the job.
 */
export class TraceContextError extends Error {
  override readonly name = 'TraceContextError'
}
