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
  /** Answers other than 2xx and 3xx, and broken connections. */
  readonly failures: number
}

/** 64 keep-alive connections, as fast as they are answered, for `seconds`. */
export async function wrk(port: number, body: Uint8Array, token: string, seconds: number): Promise<LoadResult> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-wrk-'))
  try {
    writeFileSync(join(directory, 'body'), body)
    const script = join(directory, 'post.lua')
    writeFileSync(
      script,
      `local file = io.open("${directory}/body", "rb")
wrk.method = "POST"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/x-protobuf"
wrk.headers["Authorization"] = "Bearer ${token}"
wrk.headers["User-Agent"] = "OTel-OTLP-Exporter-JavaScript/0.223.0"
function done(summary, latency)
  local failures = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failures))
end
`,
    )
    const args = ['-t1', '-c64', `-d${seconds}`, '-s', script, `http://127.0.0.1:${port}/v1/traces`]
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
