/** The environment does not say what a trace context takes. The message is one line for the author of the job. */
export class TraceContextError extends Error {
  override readonly name = 'TraceContextError'
}
