import { DomainError } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { ActingUser } from '../../base/model/user.ts'
import {
  type Core,
  type EventListener,
  type OperationContext,
  readContextOf,
  type Tx,
} from '../../base/operations/context.ts'
import type { DomainEvent } from '../../base/operations/event.ts'
import { perform } from '../../base/operations/perform.ts'
import { noRequest } from '../../base/operations/request-facts.ts'
import { inTransaction } from '../../base/operations/transaction.ts'
import { findPipelineByKey } from '../../ci/pipelines/pipeline-store.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { findUser } from '../../identity/users/user-store.ts'
import { abortAutoMerge } from './auto-merge.ts'
import {
  type AutoMerge,
  autoMergesOfBranch,
  autoMergesOfPipeline,
  dueAutoMerges,
  findAutoMerge,
  setAutoMergeDue,
} from './auto-merge-store.ts'
import { findHeadPipelines } from './head-pipelines.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'

type EventTx = OperationContext & Tx

/** The limit of merges that are done one after the other. The rest follows with the next pipeline or the next sweep. */
const MERGES_AT_ONCE = 100

const PIPELINE_CREATED = 'pipeline.created'
const PIPELINE_UPDATED = 'pipeline.updated'
const PUSHED = 'repository.pushed'
const CLOSED = 'merge_request.closed'

/**
 * Starts automatic merges when the pipeline of the source branch succeeds. Ends them when it fails, when the source branch
 * moves, and when the merge request is closed.
 */
export const autoMergeListener: EventListener = {
  types: new Set([PIPELINE_CREATED, PIPELINE_UPDATED, PUSHED, CLOSED]),
  async onEvent(tx, event) {
    if (event.type === CLOSED) {
      const merge = await findAutoMerge(tx, event.objectId)
      if (merge !== undefined) await abortAutoMerge(tx, merge, 'the merge request was closed')
    } else if (event.type === PUSHED) {
      await abortAfterPush(tx, event)
    } else {
      await followPipeline(tx, event)
    }
  },
}

async function abortAfterPush(tx: EventTx, { projectId, push }: DomainEvent): Promise<void> {
  const branch = /^refs\/heads\/(.*)$/s.exec(push?.ref ?? '')?.[1]
  if (branch === undefined) return
  for (const merge of await autoMergesOfBranch(tx, projectId!, branch)) {
    if (push?.after !== merge.sha) await abortAutoMerge(tx, merge, 'the source branch was updated')
  }
}

async function followPipeline(tx: EventTx, { objectId, details, written }: DomainEvent): Promise<void> {
  const status = String(details?.status)
  if (!['success', 'failed', 'canceled', 'skipped'].includes(status)) return
  const pipeline = written?.pipeline ?? (await findPipelineByKey(tx, objectId))
  if (pipeline === undefined) return
  for (const merge of await autoMergesOfPipeline(tx, pipeline)) {
    const [head] = await findHeadPipelines(tx, [{ ...merge, iid: merge.mergeRequestIid }])
    if (head?.key !== pipeline.key) continue
    const { settings } = await getProject(tx, merge.projectId)
    if (status === 'success' || (status === 'skipped' && settings.allowMergeOnSkippedPipeline)) {
      await setAutoMergeDue(tx, merge.mergeRequestId)
      tx.afterCommit(mergeDueRequests)
    } else {
      const word = { failed: 'failed', canceled: 'was canceled', skipped: 'was skipped' }[status]
      await abortAutoMerge(tx, merge, `the pipeline ${word}`)
    }
  }
}

/**
 * Does the automatic merges that are due, each as the user who asked for it. A merge that is refused ends with a
 * note. Any other failure is thrown after the last one, and the merge stays due.
 */
export async function mergeDueRequests(core: Core): Promise<void> {
  const failures: unknown[] = []
  for (const merge of await dueAutoMerges(readContextOf(core), MERGES_AT_ONCE)) {
    try {
      await mergeDue(core, merge)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

async function mergeDue(core: Core, merge: AutoMerge): Promise<void> {
  const actor = await findActor(readContextOf(core), merge.userId)
  const { projectId: project, mergeRequestIid, sha, options } = merge
  try {
    if (actor === undefined) throw new DomainError({ code: 'unauthenticated' })
    await perform(core, actor, mergeMergeRequest, { ...options, project, mergeRequestIid, sha })
  } catch (error) {
    if (!(error instanceof DomainError) || error.failure.code === 'unavailable') throw error
    await inTransaction({ core, actor, request: noRequest }, (tx) => abortAutoMerge(tx, merge, reasonOf(error)))
  }
}

/** Returns the user as an actor; `undefined` if the account may not be used. */
async function findActor(context: ReadContext, id: number): Promise<ActingUser | undefined> {
  const user = await findUser(context, id)
  if (user?.state !== 'active') return undefined
  const { username, isAdministrator, botHome, isExternal } = user
  return { id, username, isAdministrator, botHome, isExternal }
}

function reasonOf({ failure: { code } }: DomainError): string {
  const isRefused = code === 'unauthenticated' || code === 'forbidden' || code === 'not_found'
  return isRefused ? 'the user may no longer merge' : 'the merge request cannot be merged'
}
