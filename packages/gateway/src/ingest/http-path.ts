import { CREDENTIAL_PARAMETER } from './credential.ts'
import { type IngestSignal, ingestSignalNames, ingestSignals } from './signals.ts'

export type Route = IngestSignal | 'health'

/** What a request target asks for. */
export interface Target {
  /** `undefined`: nothing of ours. */
  readonly route: Route | undefined
  /** Value of the credential's query parameter. */
  readonly queryCredential: string | undefined
}

/** Which paths there are (P-2, X-14). Whatever is not exactly one of them, once decoded, is nothing of ours. */
export class PathTable {
  readonly #targets = new Map<string, Target>()
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

  find(requestTarget: string): Target {
    return this.#targets.get(requestTarget) ?? this.#findDecoded(requestTarget)
  }

  #add(path: string, route: Route): void {
    this.#targets.set(path, { route, queryCredential: undefined })
  }

  #findDecoded(requestTarget: string): Target {
    const origin = originForm(requestTarget)
    const queryAt = origin.indexOf('?')
    const path = decoded(queryAt === -1 ? origin : origin.slice(0, queryAt))
    const route = path === undefined ? undefined : this.#targets.get(path)?.route
    if (!this.#readsQuery || queryAt === -1) return { route, queryCredential: undefined }
    const values = new URLSearchParams(origin.slice(queryAt + 1)).getAll(CREDENTIAL_PARAMETER)
    // Two of them are no credential, and neither is the empty text; a blank between them says so to the parser.
    return { route, queryCredential: values.length === 0 ? undefined : values.join(' ') }
  }
}

const absoluteForm = /^https?:\/\/[^/?#]*(\/.*)$/i

/** `http://host/path` is how a client asks a proxy; the path is the same (RFC 9112 section 3.2.2). */
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
