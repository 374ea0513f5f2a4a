import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface LoadResult {
  readonly requests: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The number of answers other than 2xx and 3xx, and of broken connections. */
  readonly failures: number
}

export interface WrkRequest {
  readonly port: number
  readonly method?: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Whether the body is sent as one chunk without its length. */
  readonly isChunked?: boolean
  /** The number of connections. Default 64. */
  readonly connections?: number
  /** Lines of the script that change each request. */
  readonly lua?: string
}

export interface ExportLoad {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  readonly isChunked?: boolean
  readonly lua?: string
}

/** Sends the same export of traces over and over for `seconds`. */
export const wrk = (
  port: number,
  { headers, ...sent }: ExportLoad,
  token: string,
  seconds: number,
): Promise<LoadResult> =>
  wrkRequests(
    { port, method: 'POST', path: '/v1/traces', headers: { ...headers, Authorization: `Bearer ${token}` }, ...sent },
    seconds,
  )

const inOneChunk = `
local chunk = string.format("%x\\r\\n", #wrk.body) .. wrk.body .. "\\r\\n0\\r\\n\\r\\n"
wrk.body = nil
wrk.headers["Transfer-Encoding"] = "chunked"
local whole
function request()
  whole = whole or wrk.format() .. chunk
  return whole
end
`

/** Repeats a request on keep-alive connections as fast as it is answered, for `seconds`. */
export async function wrkRequests(request: WrkRequest, seconds: number): Promise<LoadResult> {
  const { port, method = 'GET', path, headers, body, isChunked = false, connections = 64, lua = '' } = request
  const directory = mkdtempSync(join(tmpdir(), 'penstock-wrk-'))
  try {
    const script = join(directory, 'request.lua')
    const bodyFile = join(directory, 'body')
    if (body !== undefined) writeFileSync(bodyFile, body)
    const lines = [
      `wrk.method = "${method}"`,
      ...(body === undefined ? [] : [`wrk.body = io.open("${bodyFile}", "rb"):read("*a")`]),
      ...Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = "${value}"`),
      ...(isChunked ? [inOneChunk] : []),
      lua,
    ]
    writeFileSync(
      script,
      `${lines.join('\n')}
function done(summary, latency)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failures))
end
`,
    )
    const args = ['-t1', `-c${connections}`, `-d${seconds}`, '-s', script, `http://127.0.0.1:${port}${path}`]
    const { stdout } = await promisify(execFile)('wrk', args)
    const [requests, micros, p50, p99, failures] = /RESULT (.+)/.exec(stdout)![1]!.split(' ').map(Number) as number[]
    return {
      requests: requests!,
      perSecond: requests! / (micros! / 1e6),
      p50Ms: p50! / 1000,
      p99Ms: p99! / 1000,
      failures: failures!,
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
