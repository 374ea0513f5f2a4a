import type { AdmissionRequest } from './admission.ts'
import type { IngestSignal } from './signals.ts'

/** A request on a path that accepts no telemetry. */
export interface WrongPathRequest
  extends Pick<AdmissionRequest, 'transport' | 'credential' | 'source' | 'userAgent' | 'requestId' | 'declaredBytes'> {
  /** The decoded path, without its query. */
  readonly path: string
  readonly suggestion: PathSuggestion
}

/** The path that a request on a wrong path probably meant. */
export interface PathSuggestion {
  /** `undefined` if the path names no signal, or several. */
  readonly signal: IngestSignal | undefined
  /** The path of the signal, or those of all signals. */
  readonly paths: readonly string[]
}
