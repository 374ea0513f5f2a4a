import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Encoding, Signal } from '@penstock/otlp'
import type { OutputStream } from './environment.ts'
import { rememberedPipelines } from './intake.ts'
import { write } from './output.ts'
import { RecentMap } from './recent-map.ts'
import { orOutputError, orUsageError } from './system-error.ts'

/** Where converted requests go, pipeline by pipeline. */
export interface RequestOutput {
  /** @throws {OutputError} */
  put(pipelineId: bigint, requests: ReadonlyMap<Signal, Uint8Array>): Promise<void>
}

/** One request per line. In protobuf, requests of one signal in a row are a request again, so nothing parts them. */
export function streamOutput(stdout: OutputStream, encoding: Encoding): RequestOutput {
  return {
    async put(_, requests) {
      for (const body of requests.values()) {
        await write(stdout, encoding === 'json' ? Buffer.concat([body, Buffer.from('\n')]) : body)
      }
    },
  }
}

/**
 * Files `<pipeline id>.<signal>.json|pb`. Another pipeline of the same id in the same run (of another instance, or a later
 * completion) gets a number: `31.2.traces.json`. Files of earlier runs are replaced.
 *
 * @throws {UsageError} when the directory cannot be made
 */
export async function directoryOutput(directory: string, encoding: Encoding): Promise<RequestOutput> {
  const extension = encoding === 'json' ? 'json' : 'pb'
  const seen = new RecentMap<bigint, number>({ entries: rememberedPipelines })
  await orUsageError(`cannot write to ${directory}`, mkdir(directory, { recursive: true }))
  return {
    async put(pipelineId, requests) {
      const number = (seen.get(pipelineId) ?? 0) + 1
      seen.set(pipelineId, number)
      const stem = number === 1 ? String(pipelineId) : `${pipelineId}.${number}`
      for (const [signal, body] of requests) {
        const path = join(directory, `${stem}.${signal}.${extension}`)
        await orOutputError(`cannot write ${path}`, writeFile(path, body))
      }
    },
  }
}
