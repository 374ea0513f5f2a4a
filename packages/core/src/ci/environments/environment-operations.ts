import { DAY_MS } from '../../base/kit/day.ts'
import { DomainError, forbidden, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import type { Page } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project, ProjectRef } from '../../base/model/project.ts'
import type { Core, InProject, OperationContext, Tx } from '../../base/operations/context.ts'
import { command, query, type StepsContext, steps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { inTransaction, serviceContext } from '../../base/operations/transaction.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { viewOf } from '../../identity/projects/project-view-store.ts'
import { addEnvironment, changeEnvironment, stopEnvironmentNow, writeToEnvironments } from './change-environment.ts'
import {
  createEnvironmentInput,
  DELETION_DELAY_MS,
  type Environment,
  environmentDraft,
  environmentEvents,
  environmentInput,
  environmentSettings,
  isSearchTooShort,
  listEnvironmentsInput,
  MAX_ENVIRONMENTS,
  REVIEW_APP_AGE_MS,
  removeReviewAppsInput,
  type ShownEnvironment,
  stopStaleInput,
  updateEnvironmentInput,
} from './environment.ts'
import {
  deleteEnvironment,
  environmentsByName,
  environmentsToDelete,
  findEnvironment,
  oldReviewApps,
  pageOfEnvironments,
  staleEnvironments,
} from './environment-store.ts'

const subject = (context: ReadContext, { project }: { readonly project: ProjectRef }) => getProject(context, project)
const reads = { permission: 'read_environment', subject } as const
const writes = { permission: 'write_environment', subject } as const

const badRequest = (message: string) => new DomainError({ code: 'refused', message })

export const listEnvironments = query(
  { name: 'listEnvironments', input: listEnvironmentsInput, ...reads },
  async (context, input): Promise<Page<ShownEnvironment>> => {
    if (isSearchTooShort(input)) throw badRequest('Search query is less than 3 characters')
    const page = await pageOfEnvironments(context, context.subject, input)
    const projectView = await viewOf(context, context.actor, context.subject)
    return { ...page, items: page.items.map((environment) => ({ ...environment, projectView })) }
  },
)

export const createEnvironment = command(
  { name: 'createEnvironment', input: createEnvironmentInput, ...writes },
  async (tx, { tier, ...input }): Promise<ShownEnvironment> => {
    const draft = newObject(environmentDraft, input)
    const taken = (await environmentsByName(tx, tx.subject, [draft.name])).has(draft.name)
    validate(environmentDraft, draft, taken ? { name: [errorTexts.taken] } : {})
    return shown(tx, await addEnvironment(tx, tx.subject, { ...draft, tier }))
  },
)

export const updateEnvironment = command(
  { name: 'updateEnvironment', input: updateEnvironmentInput, ...writes },
  async (tx, { environmentId, ...input }): Promise<ShownEnvironment> => {
    const before = await requireEnvironment(tx, environmentId)
    const draft = withInput(environmentSettings, before, input)
    validate(environmentSettings, draft)
    return shown(tx, await changeEnvironment(tx, before, 'updated', draft))
  },
)

/** Removes an environment that is stopped, with its deployments. */
export const removeEnvironment = command(
  { name: 'removeEnvironment', input: environmentInput, ...writes, isConditional: true },
  async (tx, { environmentId }) => {
    const environment = await requireEnvironment(tx, environmentId)
    if (environment.state !== 'stopped') throw forbidden()
    tx.requireUnmodified(environment.updatedAtMs)
    await deleteEnvironment(tx, environment.id)
    await recordChange(tx, environmentEvents, 'removed', { before: environment, projectId: tx.subject.id })
  },
)

export const stopEnvironment = command(
  { name: 'stopEnvironment', input: environmentInput, ...writes },
  async (tx, { environmentId }): Promise<ShownEnvironment> =>
    shown(tx, await stopEnvironmentNow(tx, await requireEnvironment(tx, environmentId))),
)

/** Stops environments that have not been changed, and not deployed to, since a time between a week and ten years ago. */
export const stopStaleEnvironments = steps(
  { name: 'stopStaleEnvironments', input: stopStaleInput, ...writes },
  async (context, { before }): Promise<{ readonly stopped: number }> => {
    const { nowMs } = context
    if (before > nowMs - 7 * DAY_MS || before < nowMs - 3_652 * DAY_MS) throw badRequest('Invalid Date')
    const stopped = await changeInParts(context, MAX_ENVIRONMENTS, async (tx, project, limit) => {
      const stale = await staleEnvironments(tx, project, before, limit)
      for (const environment of stale) await stopEnvironmentNow(tx, environment)
      return stale
    })
    return { stopped: stopped.length }
  },
)

/** The review apps that are going to be deleted. */
export interface ReviewAppDeletion {
  readonly scheduled: readonly Environment[]
}

/** Schedules old review apps that are stopped for deletion in a week; with `dryRun`, only lists them. */
export const removeReviewApps = steps(
  { name: 'removeReviewApps', input: removeReviewAppsInput, ...writes },
  async (
    context,
    { before = context.nowMs - REVIEW_APP_AGE_MS, limit: maximum, dryRun },
  ): Promise<ReviewAppDeletion> => {
    if (dryRun) return { scheduled: await oldReviewApps(context, context.subject, before, maximum) }
    const scheduled = await changeInParts(context, maximum, async (tx, project, limit) => {
      const changed: Environment[] = []
      for (const app of await oldReviewApps(tx, project, before, limit))
        changed.push(await changeEnvironment(tx, app, 'updated', { autoDeleteAtMs: tx.nowMs + DELETION_DELAY_MS }))
      return changed
    })
    return { scheduled }
  },
)

/** The limit of environments that one transaction changes. */
const PER_TRANSACTION = 25

/**
 * Changes up to `maximum` environments in several transactions, because other writers wait until a transaction ends.
 *
 * @param change changes up to `limit` environments and returns them; it must not find them again
 */
async function changeInParts(
  context: StepsContext & InProject,
  maximum: number,
  change: (tx: Tx, project: Project, limit: number) => Promise<readonly Environment[]>,
): Promise<readonly Environment[]> {
  const all: Environment[] = []
  let limit: number
  let changed: readonly Environment[]
  do {
    limit = Math.min(PER_TRANSACTION, maximum - all.length)
    changed = await writeToEnvironments(context, (tx, project) => change(tx, project, limit))
    all.push(...changed)
  } while (changed.length === limit && all.length < maximum)
  return all
}

/** Deletes the review apps that are due. */
export async function deleteScheduledEnvironments(core: Core): Promise<void> {
  let deleted: number
  do {
    deleted = await inTransaction(serviceContext(core), async (tx) => {
      const due = await environmentsToDelete(tx, PER_TRANSACTION)
      for (const environment of due) {
        await deleteEnvironment(tx, environment.id)
        await recordChange(tx, environmentEvents, 'removed', { before: environment, projectId: environment.projectId })
      }
      return due.length
    })
  } while (deleted === PER_TRANSACTION)
}

type OnProject = ReadContext & Pick<InProject, 'subject'>

async function requireEnvironment(context: OnProject, id: number): Promise<Environment> {
  const environment = await findEnvironment(context, context.subject, id)
  if (environment === undefined) throw notFound()
  return environment
}

const shown = async (
  context: OnProject & Pick<OperationContext, 'actor'>,
  environment: Environment,
): Promise<ShownEnvironment> => ({
  ...environment,
  projectView: await viewOf(context, context.actor, context.subject),
})
