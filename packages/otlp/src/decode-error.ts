/** Bytes that are no valid OTLP request, or exceed a limit of the reader. The input is never echoed. */
export class OtlpDecodeError extends Error {
  override readonly name = 'OtlpDecodeError'
  /** Where, in JSON names: `resourceSpans[0].scopeSpans[0].spans[3].traceId`; '' for the body as a whole. */
  readonly path: string
  readonly reason: string
  constructor(path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`)
    this.path = path
    this.reason = reason
  }
}

/** A refusal on its way up; every level it passes adds its segment in front of the path. */
class Refusal extends Error {
  readonly segments: string[] = []
}

export function refuse(reason: string): never {
  throw new Refusal(reason)
}

/** The error to throw on from the level called `segment` (`name` or `[3]`, `""` for one without a name). */
export function within(error: unknown, segment: string): unknown {
  if (error instanceof Refusal && segment !== '') error.segments.unshift(segment)
  return error
}

/** Runs a decoder; what it refuses becomes an `OtlpDecodeError`. */
export function reportingRefusals<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const path = error.segments.map((segment) => (segment.startsWith('[') ? segment : `.${segment}`)).join('')
    throw new OtlpDecodeError(path.replace(/^\./, ''), error.message)
  }
}
