/** The error for bytes that are not a valid OTLP request or exceed a limit. It never contains the input. */
export class OtlpDecodeError extends Error {
  override readonly name = 'OtlpDecodeError'
  /** The path in JSON names, such as `resourceSpans[0].scopeSpans[0].spans[3].traceId`; '' for the whole body. */
  readonly path: string
  readonly reason: string
  constructor(path: string, reason: string) {
    super(path === '' ? reason : `${path}: ${reason}`)
    this.path = path
    this.reason = reason
  }
}

/** The error inside the decoder. Each level that rethrows it adds its segment to the front of the path. */
class Refusal extends Error {
  readonly segments: string[] = []
}

export function refuse(reason: string): never {
  throw new Refusal(reason)
}

/** Returns the error to rethrow from the level `segment` (`name` or `[3]`, `""` for a level without a name). */
export function within(error: unknown, segment: string): unknown {
  if (error instanceof Refusal && segment !== '') error.segments.unshift(segment)
  return error
}

/** Runs a decoder and throws its refusals as `OtlpDecodeError`. */
export function reportingRefusals<T>(decode: () => T): T {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const path = error.segments.map((segment) => (segment.startsWith('[') ? segment : `.${segment}`)).join('')
    throw new OtlpDecodeError(path.replace(/^\./, ''), error.message)
  }
}
