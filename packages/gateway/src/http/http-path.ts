import { type IngestSignal, ingestSignalNames, ingestSignals } from '../contract/signals.ts'
import { CREDENTIAL_PARAMETER } from './credential.ts'

type PathRoute = IngestSignal | 'health'

/** The meaning of a request target. */
export interface RequestTarget {
  /** `undefined` if the path is unknown. */
  readonly route: PathRoute | undefined
  /** The path without its query, decoded if it can be decoded. */
  readonly path: string
  /** The value of the query parameter for credentials. */
  readonly queryCredential: string | undefined
}

/** The paths that the gateway serves (P-2, X-14). A decoded path must be equal to one of them. */
export class PathTable {
  readonly #targets = new Map<string, RequestTarget>()
  readonly #readsQuery: boolean

  constructor(
    extraPaths: Readonly<Record<string, IngestSignal>>,
    options: { readonly healthPath?: string; readonly readsQuery: boolean },
  ) {
    this.#readsQuery = options.readsQuery
    for (const signal of ingestSignalNames) this.#add(ingestSignals[signal].httpPath, signal)
    for (const [path, signal] of Object.entries(extraPaths)) this.#add(path, signal)
    if (options.healthPath !== undefined) this.#add(options.healthPath, 'health')
  }

  find(requestTarget: string): RequestTarget {
    return this.#targets.get(requestTarget) ?? this.#findDecoded(requestTarget)
  }

  /** Returns whether the path, as it was sent, is one that accepts telemetry. */
  acceptsTelemetry(path: string): boolean {
    const route = this.#targets.get(path)?.route
    return route !== undefined && route !== 'health'
  }

  #add(path: string, route: PathRoute): void {
    this.#targets.set(path, { route, path, queryCredential: undefined })
  }

  #findDecoded(requestTarget: string): RequestTarget {
    const origin = originForm(requestTarget)
    const queryAt = origin.indexOf('?')
    const sentPath = queryAt === -1 ? origin : origin.slice(0, queryAt)
    const decodedPath = decoded(sentPath)
    const route = decodedPath === undefined ? undefined : this.#targets.get(decodedPath)?.route
    const path = decodedPath ?? sentPath
    if (!this.#readsQuery || queryAt === -1) return { route, path, queryCredential: undefined }
    const values = new URLSearchParams(origin.slice(queryAt + 1)).getAll(CREDENTIAL_PARAMETER)
    // Several values are joined with a space, which makes the credential malformed.
    return { route, path, queryCredential: values.length === 0 ? undefined : values.join(' ') }
  }
}

const absoluteForm = /^https?:\/\/[^/?#]*(\/.*)$/i

/** Removes scheme and host of an absolute target, which clients send to proxies (RFC 9112, section 3.2.2). */
function originForm(requestTarget: string): string {
  return requestTarget.startsWith('/') ? requestTarget : (absoluteForm.exec(requestTarget)?.[1] ?? requestTarget)
}

function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}
