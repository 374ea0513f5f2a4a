import { requirePermission } from '../../base/access/subject.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { InProject, OperationContext, Tx } from '../../base/operations/context.ts'
import type { StepsContext } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { type Environment, environmentEvents, MAX_ENVIRONMENTS, slugOfName, tierOfName } from './environment.ts'
import { hasRoom, insertEnvironment, updateEnvironmentRow } from './environment-store.ts'

/** The fields of a new environment; the tier follows from the name if it is missing. */
type NewEnvironment = Pick<Environment, 'name'> &
  Partial<Pick<Environment, 'description' | 'externalUrl' | 'autoStopSetting'>> & {
    readonly tier?: Environment['tier'] | null | undefined
  }

/** @throws DomainError `refused` if the project has as many environments as it may */
export async function addEnvironment(tx: Tx, project: Project, draft: NewEnvironment): Promise<Environment> {
  if (!(await hasRoom(tx, project))) {
    const message = `Maximum number of environments (${MAX_ENVIRONMENTS}) exceeded`
    throw new DomainError({ code: 'refused', message })
  }
  const { name } = draft
  const environment = await insertEnvironment(tx, {
    projectId: project.id,
    name,
    slug: slugOfName(name),
    description: draft.description,
    externalUrl: draft.externalUrl,
    tier: draft.tier ?? tierOfName(name),
    autoStopSetting: draft.autoStopSetting ?? 'always',
    state: 'available',
    autoDeleteAtMs: undefined,
    createdAtMs: tx.nowMs,
    updatedAtMs: tx.nowMs,
  })
  await recordChange(tx, environmentEvents, 'created', { after: environment, projectId: project.id })
  return environment
}

/** Stores an environment with new values, and records what happened: `updated`, `stopped` or `started`. */
export async function changeEnvironment(
  tx: Tx,
  before: Environment,
  what: 'updated' | 'stopped' | 'started',
  changes: Partial<Environment>,
): Promise<Environment> {
  const after = await updateEnvironmentRow(tx, { ...before, ...changes })
  await recordChange(tx, environmentEvents, what, { before, after, projectId: before.projectId })
  return after
}

/** Stops an environment. One that is stopped already stays as it is. */
export const stopEnvironmentNow = async (tx: Tx, environment: Environment): Promise<Environment> =>
  environment.state === 'stopped' ? environment : changeEnvironment(tx, environment, 'stopped', { state: 'stopped' })

/** Returns whether `startEnvironment` would change the environment. */
export const isChangedByStart = ({ state, tier: former }: Environment, tier: Environment['tier'] = former): boolean =>
  state !== 'available' || tier !== former

/** Makes an environment available after a successful deployment, with the tier that the deployment names. */
export async function startEnvironment(
  tx: Tx,
  environment: Environment,
  tier: Environment['tier'] = environment.tier,
): Promise<Environment> {
  if (environment.state !== 'available')
    return changeEnvironment(tx, environment, 'started', { state: 'available', tier, autoDeleteAtMs: undefined })
  return tier === environment.tier ? environment : changeEnvironment(tx, environment, 'updated', { tier })
}

/** Runs `work` in a transaction in which the actor still may change environments. */
export const writeToEnvironments = <Result>(
  context: StepsContext & InProject,
  work: (tx: OperationContext & Tx, project: Project) => Promise<Result>,
): Promise<Result> =>
  context.write(async (tx) => {
    const project = await getProject(tx, context.subject.id)
    await requirePermission(tx, project, 'write_environment')
    return work(tx, project)
  })
