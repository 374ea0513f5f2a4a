/** Where in a JSON text something is wrong; both count from 1. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}

/** A body that is no usable record. `path` leads to the offending field, '' stands for the body as a whole. */
export class RecordError extends Error {
  override readonly name = 'RecordError'
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
