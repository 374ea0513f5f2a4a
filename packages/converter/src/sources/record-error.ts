/** Where in a JSON text something is wrong; both count from 1. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** A body that is no usable record. `path` leads to the offending field, '' stands for the body as a whole. */
export class RecordError extends Error {
  override readonly name: string = 'RecordError'
  readonly path: string
  readonly reason: string
  readonly line: number | undefined
  readonly column: number | undefined
  constructor(path: string, reason: string, position?: TextPosition) {
    const place = position === undefined ? '' : ` at line ${position.line}, column ${position.column}`
    super(`${path === '' ? '' : `${path}: `}${reason}${place}`)
    this.path = path
    this.reason = reason
    this.line = position?.line
    this.column = position?.column
  }
}

/** A hook about another event, such as a push or a deployment. The sender made no mistake; callers skip the hook. */
export class OtherHookError extends RecordError {
  /** The `object_kind` or `event_name` of the hook, such as `push`, on one line and at most 40 characters. */
  readonly event: string
  constructor(path: 'object_kind' | 'event_name', event: string) {
    super(path, `must be pipeline or build, got ${event}`)
    this.event = event
  }
}
