import { createHmac } from 'node:crypto'
import { getInstance } from '@penstock/converter'
import {
  type Core,
  claimTraceInstance,
  DomainError,
  type EventListener,
  findNamedUpstream,
  findTraceInstance,
  getProject,
  loadExportSettings,
  type NamedUpstream,
  type Project,
  type ReadContext,
  readContextOf,
  type VariableCircumstances,
  type WrittenPipeline,
} from '@penstock/core'
import {
  type Exporter,
  type ExportIdentity,
  type HookProject,
  type ReceivedBody,
  type RecordIntake,
  readBody,
} from '@penstock/exporter'
import { integerId, type PipelineRecord, RecordError, type RunId, type UpstreamPipeline } from '@penstock/forges'
import { WorkersBusyError } from '@penstock/runtime'
import { projectScope } from './project-scope.ts'

/** The length of a digest. It is sufficient to distinguish tokens. */
const DIGEST_CHARACTERS = 16

/**
 * Returns the listener that enqueues each pipeline in the transaction that records it in the core. A pipeline is
 * exported under the project in which it was recorded, even if the record names another one. Its trace is one that no
 * other project writes to (docs/contributing/decisions/0014-ids-of-projects.md).
 */
export function coreExportListener(exporter: Pick<Exporter, 'bodies' | 'intake' | 'wake'>): EventListener {
  const listener: EventListener = {
    types: new Set(['pipeline.created', 'pipeline.updated']),
    prepare: async (core, project, payload): Promise<PreparedBody> => {
      const named = hookProject(core, project)
      return {
        project: named,
        body: await withCoreErrors(() => exporter.bodies.read(payload, { forge: 'gitlab', project: named })),
      }
    },
    onEvent: async (tx, { projectId, payload, prepared, written }) => {
      if (projectId === undefined || payload === undefined) return
      const { core, nowMs } = tx
      const project = written?.project ?? (await getProject(tx, projectId))
      const named = hookProject(core, project)
      const ready = prepared?.get(listener) as PreparedBody | undefined
      // The body contains the project's names, and the project may have been renamed since.
      const isReady = ready !== undefined && isSameProject(ready.project, named)
      const body = isReady
        ? ready.body
        : await withCoreErrors(async () => readBody(payload, { forge: 'gitlab', project: named }))
      const upstream = body.input.kind === 'pipeline' ? await namedUpstream(tx, body.input.record) : undefined
      const result = await exporter.intake.enqueue(
        // The database contains the exporter's tables too, see `CoreDatabaseTables`.
        tx.db as unknown as Parameters<RecordIntake['enqueue']>[0],
        {
          scope: projectScope(projectId),
          body,
          receivedAtNs: core.clock.nowNs(),
          upstreamScope: upstream === undefined ? null : projectScope(upstream.project.id),
          plan: async (record) => {
            const { signals, token } = await loadExportSettings(tx, core, project, toVariableCircumstances(record))
            const plan = { signals, destination: destinationId(core, token) }
            if (signals.length === 0) return plan
            return { ...plan, identity: await identityOf(tx, { project, record, named: upstream, written }) }
          },
        },
        nowMs,
      )
      if (result.kind === 'enqueued') tx.afterCommit(async () => exporter.wake())
    },
  }
  return listener
}

/** A body, and the project data with which it was read. */
interface PreparedBody {
  readonly project: HookProject
  readonly body: ReceivedBody
}

const isSameProject = (one: HookProject, other: HookProject): boolean =>
  (Object.keys(one) as (keyof HookProject)[]).every((key) => one[key] === other[key])

type ListenerContext = Parameters<EventListener['onEvent']>[0]

/**
 * Runs `read` and converts its errors into errors of the core.
 * @throws DomainError if the body is invalid, or cannot be read at the moment
 */
async function withCoreErrors(read: () => Promise<ReceivedBody>): Promise<ReceivedBody> {
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

/** Returns the upstream pipeline if the record names one in another project of this core. */
async function namedUpstream(tx: ListenerContext, { upstream }: PipelineRecord): Promise<NamedUpstream | undefined> {
  if (upstream === undefined || !upstream.otherProject) return undefined
  const { projectId, projectPath, projectWebUrl } = upstream
  const pipelineId = integerId(upstream.pipelineId)
  const base = `${tx.core.settings.externalUrl}/`
  const path = projectPath ?? (projectWebUrl?.startsWith(base) ? projectWebUrl.slice(base.length) : undefined)
  const isOnThisHost = projectWebUrl === undefined || getInstance(projectWebUrl) === getInstance(base)
  const id = Number(projectId)
  const ref = path ?? (projectWebUrl === undefined && Number.isSafeInteger(id) ? id : undefined)
  return isOnThisHost && ref !== undefined && pipelineId !== undefined
    ? findNamedUpstream(tx, ref, pipelineId)
    : undefined
}

interface ExportedPipeline {
  readonly project: Project
  readonly record: PipelineRecord
  readonly named: NamedUpstream | undefined
  readonly written: WrittenPipeline | undefined
}

/** Returns whether the id is that of the pipeline just written, and its project was the first to record it. */
const isFirstToRecord = (id: RunId, written: WrittenPipeline | undefined): boolean =>
  written !== undefined && id === BigInt(written.pipeline.id) && written.pipeline.globalNumber === written.pipeline.id

/** Returns the parts of the export's identity that cannot be derived from the record alone. */
async function identityOf(
  tx: ListenerContext,
  { project, record, named, written }: ExportedPipeline,
): Promise<ExportIdentity | undefined> {
  const { id, rootPipelineId, upstream } = record
  const parentId = upstream?.otherProject === false ? upstream.pipelineId : undefined
  const rootId = integerId(rootPipelineId ?? parentId ?? id)
  const isCertain = rootId === undefined || isFirstToRecord(rootId, written)
  const instance = isCertain ? undefined : await claimTraceInstance(tx, project, rootId)
  if (!upstream?.otherProject) return instance === undefined ? undefined : { instance }
  return { instance, upstream: await upstreamIdentity(tx, upstream, named) }
}

async function upstreamIdentity(
  tx: ListenerContext,
  { pipelineId, rootPipelineId, projectWebUrl }: UpstreamPipeline,
  named: NamedUpstream | undefined,
): Promise<ExportIdentity['upstream']> {
  if (named !== undefined) {
    const rootId = integerId(rootPipelineId ?? pipelineId)
    const instance = rootId === undefined ? undefined : await findTraceInstance(tx, named.project, rootId)
    return { instance, standing: named.isRecorded ? 'recorded' : 'expected' }
  }
  // Hashed with this host, the id would lead to the trace of any project that has a pipeline with this id.
  const host = getInstance(projectWebUrl)
  const isOnOtherHost = host !== '' && host !== getInstance(tx.core.settings.externalUrl)
  return { standing: isOnOtherHost ? 'expected' : 'unknown' }
}

const refused = (message: string): DomainError => new DomainError({ code: 'refused', message })

/**
 * Returns a destination id. Projects with the same token have the same id, so that they share requests. It does not
 * reveal the token.
 */
function destinationId({ settings }: Core, token: string | undefined): string {
  if (token === undefined) return 'core'
  const digest = createHmac('sha256', settings.secretsKey).update(`export token\n${token}`).digest('base64url')
  return `core:${digest.slice(0, DIGEST_CHARACTERS)}`
}

/**
 * Returns the export token that the variables of a project contain now, or the reason why the project cannot be exported.
 */
export async function findExportToken(
  core: Core,
  projectId: number,
  record: PipelineRecord,
): Promise<{ readonly token: string | undefined } | string> {
  const reading: ReadContext = readContextOf(core)
  try {
    const project = await getProject(reading, projectId)
    const { token } = await loadExportSettings(reading, core, project, toVariableCircumstances(record))
    return { token }
  } catch (error) {
    if (error instanceof DomainError && error.failure.code === 'not_found') return 'the project has been removed'
    throw error
  }
}

/**
 * Returns the environments of the jobs and whether the ref is protected. They decide which variables of the project
 * apply.
 */
function toVariableCircumstances({ jobs, protectedRef }: PipelineRecord): VariableCircumstances {
  const environments = new Set(jobs.flatMap(({ environment }) => environment?.name ?? []))
  return { environments: [...environments], isProtectedRef: protectedRef ?? false }
}
