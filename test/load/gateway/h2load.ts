import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { signals } from '@penstock/otlp'
import type { LoadResult } from './wrk.ts'

/** Sends requests with one gRPC message each for `seconds`, on 4 connections of 16 streams over clear-text HTTP/2. */
export async function grpcLoad(port: number, message: Uint8Array, token: string, seconds: number): Promise<LoadResult> {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-h2load-'))
  try {
    const frame = Buffer.alloc(5 + message.length)
    frame.writeUInt32BE(message.length, 1)
    frame.set(message, 5)
    writeFileSync(join(directory, 'frame'), frame)
    const log = join(directory, 'log')
    const { stdout } = await promisify(execFile)('h2load', [
      '-c4',
      '-m16',
      '-t1',
      `-D${seconds}`,
      '-d',
      join(directory, 'frame'),
      '-H',
      'content-type: application/grpc',
      '-H',
      'te: trailers',
      '-H',
      `authorization: Bearer ${token}`,
      `--log-file=${log}`,
      `http://127.0.0.1:${port}${signals.traces.grpcMethod}`,
    ])
    const count = (name: string) => Number(new RegExp(`(\\d+) ${name}`).exec(stdout)?.[1] ?? 0)
    const micros = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split('\t')[2]))
      .sort((a, b) => a - b)
    const percentile = (share: number) => (micros[Math.floor(micros.length * share)] ?? 0) / 1000
    const requests = count('succeeded')
    return {
      requests,
      perSecond: requests / seconds,
      p50Ms: percentile(0.5),
      p99Ms: percentile(0.99),
      failures: count('failed') + count('errored') + count('timeout'),
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
