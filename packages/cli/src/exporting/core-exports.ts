import { createHmac } from 'node:crypto'
import { type PipelineRecord, RecordError } from '@penstock/converter'
import {
  type Core,
  DomainError,
  type EventListener,
  exportSettingsFor,
  getProject,
  type Project,
  pipelineIdsOfOthers,
  type Reading,
  type VariableCircumstances,
} from '@penstock/core'
import { type Exporter, type HookProject, type ReceivedBody, type RecordIntake, readBody } from '@penstock/exporter'
import { WorkersBusyError } from '@penstock/runtime'
import { projectScope } from './project-scope.ts'

/** Enough to tell tokens apart. */
const DIGEST_CHARACTERS = 16

/**
 * Takes each pipeline that the core records into the exporter, in the transaction that records it: as one of the project it
 * was put into, whatever project it says it is of, and in no trace of another's.
 *
 * @see design.md 6, spec/interface-1.md 4.3
 */
export function exportsOfCore(exporter: Pick<Exporter, 'bodies' | 'intake' | 'wake'>): EventListener {
  const listener: EventListener = {
    types: new Set(['pipeline.created', 'pipeline.updated']),
    prepare: async (core, project, payload): Promise<PreparedBody> => {
      const named = hookProject(core, project)
      return { project: named, body: await refusing(() => exporter.bodies.read(payload, { project: named })) }
    },
    hear: async (tx, { projectId, payload, prepared }) => {
      if (projectId === undefined || payload === undefined) return
      const { core, nowMs } = tx
      const project = await getProject(tx, projectId)
      const named = hookProject(core, project)
      const ready = prepared?.get(listener) as PreparedBody | undefined
      // A project may have been renamed since: its names are part of the body.
      const isReady = ready !== undefined && isSameProject(ready.project, named)
      const body = isReady ? ready.body : await refusing(async () => readBody(payload, { project: named }))
      if (body.input.kind === 'pipeline') await requireOwnTrace(tx, project, body.input.record)
      const taken = await exporter.intake.take(
        // The database holds the exporter's tables too, see `CoreDatabaseTables`.
        tx.db as unknown as Parameters<RecordIntake['take']>[0],
        {
          scope: projectScope(projectId),
          body,
          receivedAtNs: core.clock.nowNs(),
          plan: async (record) => {
            // With the root that earlier records have told, of which others may not have been known then.
            await requireOwnTrace(tx, project, record)
            const { signals, token } = await exportSettingsFor(tx, core, project, circumstancesOf(record))
            return { signals, destination: destinationText(core, token) }
          },
        },
        nowMs,
      )
      if (taken.kind === 'enqueued') tx.afterCommit(async () => exporter.wake())
    },
  }
  return listener
}

/** A body that has been read as one of a project of these names. */
interface PreparedBody {
  readonly project: HookProject
  readonly body: ReceivedBody
}

const isSameProject = (one: HookProject, other: HookProject): boolean =>
  (Object.keys(one) as (keyof HookProject)[]).every((key) => one[key] === other[key])

/** @throws DomainError for a body that cannot be read, or not now */
async function refusing(read: () => Promise<ReceivedBody>): Promise<ReceivedBody> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof WorkersBusyError) throw new DomainError({ code: 'unavailable', retryAfterSeconds: 1 })
    if (!(error instanceof RecordError)) throw error
    throw refused(error.message)
  }
}

const hookProject = ({ settings }: Core, { id, name, fullPath, defaultBranch }: Project): HookProject => ({
  id,
  name,
  web_url: `${settings.externalUrl}/${fullPath}`,
  path_with_namespace: fullPath,
  default_branch: defaultBranch ?? null,
})

/**
 * Asked of what the converter reads, as that is what makes the trace.
 *
 * @throws DomainError when the pipeline would be in the trace of one that another project has
 */
async function requireOwnTrace(reading: Reading, project: Project, record: PipelineRecord): Promise<void> {
  const { id, rootPipelineId, upstream } = record
  const parentId = upstream?.otherProject === false ? upstream.pipelineId : undefined
  const ids = [rootPipelineId, parentId].flatMap((each) => (each === undefined || each === id ? [] : Number(each)))
  const others = await pipelineIdsOfOthers(reading, project, ids.filter(Number.isSafeInteger))
  if (others.has(Number(parentId))) {
    throw refused('source_pipeline names a pipeline of another project as one of this project')
  }
  if (others.size > 0) throw refused('the root of the pipeline (root_pipeline_id) is a pipeline of another project')
}

const refused = (message: string): DomainError => new DomainError({ code: 'refused', message })

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
