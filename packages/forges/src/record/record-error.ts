/** The position of an error in a JSON text. Line and column count from 1. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** The error for a body that is not a usable record. `path` is the path of the invalid field, or '' for the whole body. */
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

/** The error for a hook about another event, such as a push or a deployment. The hook is valid; callers skip it. */
export class OtherHookError extends RecordError {
  /** The `object_kind` or `event_name` of the hook, such as `push`, on one line and at most 40 characters. */
  readonly event: string
  constructor(path: 'object_kind' | 'event_name', event: string) {
    super(path, `must be pipeline or build, got ${event}`)
    this.event = event
  }
}
