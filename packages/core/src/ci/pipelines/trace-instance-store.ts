import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { findProject } from '../../identity/projects/project-store.ts'
import { claimGlobalNumbers, isClaimedByOtherProject } from './global-number-store.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    trace_instances: TraceInstancesTable
  }
}

type CoreTx = Tx & Pick<OperationContext, 'core'>

/**
 * The instance of each project that needs one of its own. Rows are never deleted, because the ids of exported spans are
 * made from them.
 */
interface TraceInstancesTable {
  project_id: number
  instance: string
}

/**
 * Returns the instance name that is hashed into the ids of a root pipeline's trace, so that each trace is written by
 * only one project. The first project that recorded the id, or named it as a root, gets `undefined`, which means
 * the host of the core. Every other project gets a text that no other project has. The result never changes, even if
 * the project is renamed or moved.
 */
export async function claimTraceInstance(tx: CoreTx, project: Project, rootId: bigint): Promise<string | undefined> {
  const id = Number(rootId)
  // Ids outside of this range cannot be recorded, so no project can be the first.
  if (!Number.isSafeInteger(id)) return ownInstance(tx, project)
  const numbers = await claimGlobalNumbers(tx, 'pipeline_numbers', project.id, [id])
  return numbers.get(id) === id ? undefined : ownInstance(tx, project)
}

/** Returns the current result of `claimTraceInstance` for the project, but does not make the project the first one. */
export async function findTraceInstance(tx: CoreTx, project: Project, rootId: bigint): Promise<string | undefined> {
  const id = Number(rootId)
  const isOwn = !Number.isSafeInteger(id) || (await isClaimedByOtherProject(tx, 'pipeline_numbers', project.id, id))
  return isOwn ? ownInstance(tx, project) : undefined
}

/**
 * Returns the project's URL at the time of the first call, with the project's id appended if another project had that
 * URL.
 */
async function ownInstance({ core, db }: CoreTx, { id, fullPath }: Project): Promise<string> {
  const find = (of: 'project_id' | 'instance', value: number | string) =>
    db.selectFrom('trace_instances').select('instance').where(of, '=', value).executeTakeFirst()
  const kept = await find('project_id', id)
  if (kept !== undefined) return kept.instance
  const url = `${core.settings.externalUrl}/${fullPath}`
  const instance = (await find('instance', url)) === undefined ? url : `${url}#${id}`
  await db.insertInto('trace_instances').values({ project_id: id, instance }).execute()
  return instance
}

/** A pipeline in another project that a record names as its upstream. */
export interface NamedUpstream {
  readonly project: Project
  /** Whether that project has recorded the pipeline. */
  readonly isRecorded: boolean
}

/**
 * Returns the project of that path, and whether it has recorded the pipeline; `undefined` if there is no such project.
 */
export async function findNamedUpstream(
  context: ReadContext,
  path: ProjectRef,
  pipelineId: bigint,
): Promise<NamedUpstream | undefined> {
  const project = await findProject(context, path)
  if (project === undefined) return undefined
  const id = Number(pipelineId)
  const row = Number.isSafeInteger(id)
    ? await context.db
        .selectFrom('pipelines')
        .select('id')
        .where('project_id', '=', project.id)
        .where('pipeline_id', '=', id)
        .executeTakeFirst()
    : undefined
  return { project, isRecorded: row !== undefined }
}
