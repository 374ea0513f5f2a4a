/** The position of an error in a JSON text. Line and column count from 1. */
interface TextPosition {
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
  /** The name of the event, such as `push`, on one line and at most 40 characters. */
  readonly event: string
  constructor(path: string, event: string, expected: string) {
    super(path, `must be ${expected}, got ${event}`)
    this.event = event
  }
}
