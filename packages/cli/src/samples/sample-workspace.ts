import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Core, DomainError } from '@penstock/core'
import type { Log } from '@penstock/runtime'
import { sentenceOf } from '../core/core-operator.ts'
import { counted } from '../wording.ts'
import { COMPANY, SHOWN_PROJECT } from './company.ts'
import { fillWorkspace, isRoomForSamples } from './fill-workspace.ts'

/** What a start says of the sample workspace. */
export interface StartedSamples {
  readonly sentence: string
  /** Full path of one with pipelines; `undefined` when there is none. */
  readonly project: string | undefined
}

/** There as long as the samples are to be made: what a killed start has begun, the next one ends. */
const MARK_FILE = 'sample-workspace.pending'

/**
 * When the sample workspace was begun that is still to be made; `undefined` when it is made, or never was to be.
 *
 * @param isNew the data directory has just been made
 */
export function pendingSamples(dataDir: string, isNew: boolean, nowMs: number): number | undefined {
  const file = join(dataDir, MARK_FILE)
  if (isNew) writeFileSync(file, new Date(nowMs).toISOString(), { mode: 0o600 })
  if (!existsSync(file)) return undefined
  const begunMs = Date.parse(readFileSync(file, 'utf8'))
  return Number.isNaN(begunMs) ? nowMs : begunMs
}

export interface SampleOptions {
  readonly dataDir: string
  readonly begunMs: number
  readonly core: Core
  readonly newIngestToken: () => Promise<string>
  readonly log: Log
}

/** Makes it, unless the core is in use already; the exporter sends its pipelines from then on. Fails no start. */
export async function makeSamples(options: SampleOptions): Promise<StartedSamples | undefined> {
  const { dataDir, begunMs, core, log } = options
  try {
    const count = (await isRoomForSamples(core)) ? await fillWorkspace({ ...options, nowMs: begunMs }) : undefined
    rmSync(join(dataDir, MARK_FILE), { force: true })
    if (count === undefined) return undefined
    const sentence = `The sample workspace ${COMPANY} is in the core; its ${counted(count, 'pipeline')} are on their way through the gateway into the embedded store.`
    return { sentence, project: SHOWN_PROJECT }
  } catch (error) {
    log.error({ event: 'samples.failed', err: error }, 'the sample workspace could not be made')
    const why = error instanceof DomainError ? sentenceOf(error.failure) : (error as Error).message
    return {
      sentence: `The sample workspace could not be made, the next start tries again: ${why}`,
      project: undefined,
    }
  }
}
