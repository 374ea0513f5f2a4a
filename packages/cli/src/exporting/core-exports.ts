import { createHmac } from 'node:crypto'
import { type PipelineRecord, RecordError } from '@penstock/converter'
import {
  type Core,
  DomainError,
  type EventListener,
  exportSettingsFor,
  getProject,
  type Reading,
  type VariableCircumstances,
} from '@penstock/core'
import { type Exporter, type RecordIntake, readBody } from '@penstock/exporter'
import { projectScope } from './project-scope.ts'

/** Enough to tell tokens apart. */
const DIGEST_CHARACTERS = 16

/**
 * Takes each pipeline that the core records into the exporter, in the transaction that records it.
 *
 * @see design.md 6, spec/interface-1.md 4.3
 */
export function exportsOfCore(exporter: Pick<Exporter, 'intake' | 'wake'>): EventListener {
  return {
    types: new Set(['pipeline.created', 'pipeline.updated']),
    hear: async (tx, { projectId, payload }) => {
      if (projectId === undefined || payload === undefined) return
      const { core, nowMs } = tx
      const taken = await exporter.intake.take(
        // The database holds the exporter's tables too, see `CoreDatabaseTables`.
        tx.db as unknown as Parameters<RecordIntake['take']>[0],
        {
          scope: projectScope(projectId),
          body: bodyOf(payload),
          receivedAtNs: core.clock.nowNs(),
          plan: async (record) => {
            const project = await getProject(tx, projectId)
            const { signals, token } = await exportSettingsFor(tx, core, project, circumstancesOf(record))
            return { signals, destination: destinationText(core, token) }
          },
        },
        nowMs,
      )
      if (taken.kind === 'enqueued') tx.afterCommit(async () => exporter.wake())
    },
  }
}

/** @throws DomainError */
function bodyOf(payload: string): ReturnType<typeof readBody> {
  try {
    return readBody(payload)
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    throw new DomainError({ code: 'refused', message: error.message })
  }
}

/** Projects that share a token share requests. Told apart without telling the token. */
function destinationText({ settings }: Core, token: string | undefined): string {
  if (token === undefined) return 'core'
  const digest = createHmac('sha256', settings.secretsKey).update(`export token\n${token}`).digest('base64url')
  return `core:${digest.slice(0, DIGEST_CHARACTERS)}`
}

/**
 * The token that the variables of a project hold now.
 *
 * @returns a text when the project is gone
 */
export async function tokenOf(
  core: Core,
  projectId: number,
  record: PipelineRecord,
): Promise<{ readonly token: string | undefined } | string> {
  const reading: Reading = { db: core.db.read, nowMs: core.clock.nowMs() }
  try {
    const project = await getProject(reading, projectId)
    const { token } = await exportSettingsFor(reading, core, project, circumstancesOf(record))
    return { token }
  } catch (error) {
    if (error instanceof DomainError && error.failure.code === 'not_found') return 'the project has been removed'
    throw error
  }
}

/** Under which the project's variables are asked for. */
function circumstancesOf({ jobs, protectedRef }: PipelineRecord): VariableCircumstances {
  const environments = new Set(jobs.flatMap(({ environment }) => environment?.name ?? []))
  return { environments: [...environments], isProtectedRef: protectedRef ?? false }
}
