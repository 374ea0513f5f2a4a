import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Core, DomainError } from '@penstock/core'
import type { Log } from '@penstock/runtime'
import { describeFailure } from '../core/core-operator.ts'
import { counted } from '../text/wording.ts'
import { COMPANY, SHOWN_PROJECT } from './company.ts'
import { fillWorkspace, hasRoomForSamples } from './fill-workspace.ts'

/** The result of creating the sample workspace, for the start banner. */
export interface StartedSamples {
  readonly sentence: string
  /** The full path of a project with pipelines; `undefined` if there is none. */
  readonly project: string | undefined
  /** Resolves when all pipelines are recorded, or when recording them has ended early. */
  readonly completed: Promise<void>
}

/**
 * The defaults of settings in a service with a sample workspace. Its pipelines are sent once, so the store keeps telemetry for as long as it
 * can; the limit on its size remains.
 */
export const sampleDefaults = { 'observability.retentionHours': '8784' } as const

/** The file that exists until the samples are complete, so that the next start completes what a killed start began. */
const MARK_FILE = 'sample-workspace.pending'

/**
 * Returns the time at which the creation of the sample workspace began; `undefined` if it is complete or was not
 * requested.
 *
 * @param isNew whether the data directory was just created
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
  readonly hasEarlierRuns: boolean
  readonly newIngestToken: () => Promise<string>
  readonly log: Log
  /** Aborts when the service is stopped. */
  readonly signal: AbortSignal
}

/**
 * Creates the sample workspace unless the core is already in use. The exporter then sends its pipelines. Resolves when those of the last two
 * days are recorded; the earlier ones follow, so that the start does not wait for them. Errors do not fail the start.
 */
export async function makeSamples(options: SampleOptions): Promise<StartedSamples | undefined> {
  const { dataDir, begunMs, core, log, signal } = options
  const complete = () => rmSync(join(dataDir, MARK_FILE), { force: true })
  const logFailure = (error: unknown) =>
    log.error({ event: 'samples.failed', err: error }, 'the sample workspace could not be created')
  try {
    if (!(await hasRoomForSamples(core))) {
      complete()
      return undefined
    }
    const { pipelines, recordEarlier } = await fillWorkspace({ ...options, nowMs: begunMs })
    const completed = recordEarlier(signal).then(() => {
      if (!signal.aborted) complete()
    }, logFailure)
    const sentence = `The sample workspace ${COMPANY} is in the core; its ${counted(pipelines, 'pipeline')} are being sent through the gateway to the embedded store.
A webhook of ${SHOWN_PROJECT} reports issues, comments and merge requests to the receiver that \`npx penstock hooks receive\` starts.`
    return { sentence, project: SHOWN_PROJECT, completed }
  } catch (error) {
    logFailure(error)
    const why = error instanceof DomainError ? describeFailure(error.failure) : (error as Error).message
    return {
      sentence: `The sample workspace could not be created; the next start tries again: ${why}`,
      project: undefined,
      completed: Promise.resolve(),
    }
  }
}
