import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RunId, runIdText } from '@penstock/forges'
import type { Encoding, Signal } from '@penstock/otlp'
import type { OutputStream } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { orOutputError, orUsageError } from '../process/system-error.ts'
import { rememberedPipelines } from './intake.ts'
import { RecentMap } from './recent-map.ts'

/** The destination of converted requests. */
export interface RequestOutput {
  /** @throws {OutputError} */
  put(pipelineId: RunId, requests: ReadonlyMap<Signal, Uint8Array>): Promise<void>
}

/** Returns an output with one request per line. In protobuf, concatenated requests of one signal are a valid request, so there is no separator. */
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
 * Returns an output that writes files `<pipeline id>.<signal>.json|pb`. Another pipeline with the same id in the same run
 * (from another instance, or a later completion) gets a number: `31.2.traces.json`. Files of earlier runs are replaced.
 *
 * @throws {UsageError} if the directory cannot be created
 */
export async function directoryOutput(directory: string, encoding: Encoding): Promise<RequestOutput> {
  const extension = encoding === 'json' ? 'json' : 'pb'
  const seen = new RecentMap<string, number>({ entries: rememberedPipelines })
  await orUsageError(`cannot write to ${directory}`, mkdir(directory, { recursive: true }))
  return {
    async put(pipelineId, requests) {
      const id = runIdText(pipelineId)
      const number = (seen.get(id) ?? 0) + 1
      seen.set(id, number)
      const stem = number === 1 ? id : `${id}.${number}`
      for (const [signal, body] of requests) {
        const path = join(directory, `${stem}.${signal}.${extension}`)
        await orOutputError(`cannot write ${path}`, writeFile(path, body))
      }
    },
  }
}
