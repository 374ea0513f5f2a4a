import { createRequire } from 'node:module'

/** A request as one reader has read it. */
export interface ReadRequest {
  readonly method: string
  readonly target: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** The bytes of the body that have arrived, as latin1 text. */
  body: string
  isComplete: boolean
  /** Whether the connection continues after the answer. */
  readonly keepsAlive: boolean
}

export interface Reading {
  readonly requests: readonly ReadRequest[]
  /** Whether the reader has found an error after these requests. */
  readonly isBroken: boolean
}

type Callback = (...args: never[]) => unknown

interface Parser {
  [callback: number]: Callback | null
  initialize(type: number, resource: object, maxHeaderBytes: number, lenientFlags: number): void
  execute(bytes: Uint8Array): number | Error
}

interface HttpCommon {
  readonly HTTPParser: {
    new (): Parser
    readonly REQUEST: number
    readonly kOnHeaders: number
    readonly kOnHeadersComplete: number
    readonly kOnBody: number
    readonly kOnMessageComplete: number
  }
  readonly methods: readonly string[]
}

const { HTTPParser } = createRequire(import.meta.url)('_http_common') as HttpCommon
/** The number of POST among the methods of llhttp. */
const POST = 3
const parser = new HTTPParser()

/** Reads a stream with the parser of node:http, llhttp, as it is used by a server. */
export function readWithLlhttp(bytes: Uint8Array): Reading {
  const requests: ReadRequest[] = []
  let early: string[] = []
  let earlyTarget = ''
  parser.initialize(HTTPParser.REQUEST, {}, 0, 0)
  // Called with the first headers of a head that has more than 32 of them.
  parser[HTTPParser.kOnHeaders] = (headers: string[], target: string) => {
    early.push(...headers)
    earlyTarget += target
  }
  parser[HTTPParser.kOnHeadersComplete] = (
    major: number,
    minor: number,
    headers: string[] | undefined,
    method: number,
    target: string | undefined,
    _status: undefined,
    _message: undefined,
    _isUpgrade: boolean,
    keepsAlive: boolean,
  ) => {
    requests.push({
      method: `${method === POST ? 'POST' : method} HTTP/${major}.${minor}`,
      target: earlyTarget + (target ?? ''),
      headers: headers === undefined ? early : headers,
      body: '',
      isComplete: false,
      keepsAlive,
    })
    early = []
    earlyTarget = ''
    return 0
  }
  parser[HTTPParser.kOnBody] = (piece: Buffer) => {
    requests.at(-1)!.body += piece.toString('latin1')
  }
  parser[HTTPParser.kOnMessageComplete] = () => {
    requests.at(-1)!.isComplete = true
  }
  return { requests, isBroken: parser.execute(bytes) instanceof Error }
}
