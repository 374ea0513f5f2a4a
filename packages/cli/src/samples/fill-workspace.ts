import {
  type Actor,
  accessLevels,
  type Core,
  createGroup,
  createProject,
  createUser,
  exportVariableKeys,
  groupMembers,
  groupVariables,
  listUsers,
  perform,
  putPipelineRecord,
  showGroup,
  showProject,
} from '@penstock/core'
import { operator } from '../core/core-operator.ts'
import { chanceOf } from './chance.ts'
import { COMPANY, FOUNDER, groups, people, projects } from './company.ts'
import { earlierRuns } from './earlier-runs.ts'
import { findOrCreate } from './find-or-create.ts'
import { addToInstance } from './instance.ts'
import { addReceiver } from './receiver.ts'
import { addCommits, coreAt, HOUR_MS } from './sample-commits.ts'
import { type SampleRecord, sampleRecords } from './sample-hooks.ts'
import { addWork } from './work.ts'

/** The number of pipelines that are recorded concurrently, so that they share commits of the database. */
const CONCURRENT_RECORDS = 16
/**
 * How long before the end of the sample pipelines the projects are created. This is earlier than the first pipeline.
 */
const BEGINS_MS = 15 * 24 * HOUR_MS
/** The value of `default_branch_protection` with which Developers may push: some of the commits on `main` are theirs. */
const DEVELOPERS_PUSH = 1

interface FillOptions {
  readonly core: Core
  /** The end of the time in which the sample pipelines ran. Another time results in other pipelines. */
  readonly nowMs: number
  /** Whether there are pipelines of the two weeks before, which take seconds to record. */
  readonly hasEarlierRuns: boolean
  /** Creates the ingest token for the export of the pipelines. */
  readonly newIngestToken: () => Promise<string>
}

/** A workspace with the pipelines of the last two days. */
interface FilledWorkspace {
  /** The number of its pipelines, including those that are not recorded yet. */
  readonly pipelines: number
  /**
   * Records the earlier pipelines, until `signal` aborts.
   *
   * @throws DomainError
   */
  recordEarlier(signal: AbortSignal): Promise<void>
}

/**
 * Creates the sample workspace in the core with ordinary operations. Existing parts are not changed.
 *
 * @throws DomainError
 */
export async function fillWorkspace(options: FillOptions): Promise<FilledWorkspace> {
  const { core, nowMs, hasEarlierRuns, newIngestToken } = options
  const actors = await addPeople(core)
  const founder = actors.get(FOUNDER)
  await addGroups(core, founder)
  for (const { username, role, of } of people) {
    const userId = actors.get(username)!.id
    await findOrCreate(
      () => perform(core, founder, groupMembers.show, { parent: of, userId }),
      async () => {
        const member = { parent: of, userId, accessLevel: accessLevels[role] }
        return (await perform(core, founder, groupMembers.add, member)).members[0]!
      },
    )
  }
  await setExport(core, founder, newIngestToken)
  const projectIds = await addProjects(coreAt(core, nowMs - BEGINS_MS), founder)
  const histories = await addCommits(core, actors, nowMs)
  await addWork(core, actors)
  await addReceiver(core, founder)
  await addToInstance(core, nowMs)
  const userIds = new Map([...actors].map(([username, { id }]) => [username, id]))
  const world = { nowMs, externalUrl: core.settings.externalUrl, projectIds, userIds, histories }
  const records = sampleRecords(world, hasEarlierRuns ? earlierRuns(nowMs, chanceOf) : [])
  const put = ({ project, by, pipelineId, hook }: SampleRecord) =>
    perform(core, actors.get(by), putPipelineRecord, recordInput(project, pipelineId, hook))
  const record = async (some: readonly SampleRecord[], signal?: AbortSignal) => {
    for (let from = 0; from < some.length && !signal?.aborted; from += CONCURRENT_RECORDS) {
      await Promise.all(some.slice(from, from + CONCURRENT_RECORDS).map(put))
    }
  }
  const earlier = records.filter(({ isEarlier }) => isEarlier)
  await record(records.filter(({ isEarlier }) => !isEarlier))
  return { pipelines: records.length, recordEarlier: (signal) => record(earlier, signal) }
}

/** Returns whether the core has no users except administrators and sample users, so that the samples do not disturb anyone. */
export async function hasRoomForSamples(core: Core): Promise<boolean> {
  const { items } = await perform(core, operator, listUsers, { sort: 'asc', perPage: 100 })
  return items.every(({ user }) => user.isAdministrator || people.some(({ username }) => username === user.username))
}

async function addPeople(core: Core): Promise<Map<string, NonNullable<Actor>>> {
  const actors = new Map<string, NonNullable<Actor>>()
  for (const { username, name } of people) {
    const { items } = await perform(core, operator, listUsers, { username })
    const email = `${username}@${COMPANY}.example`
    // The users need no password: the administrator's token can act as any of them with the parameter `sudo`.
    const draft = { username, name, email, forceRandomPassword: true }
    const { user } = items[0] ?? (await perform(core, operator, createUser, draft))
    actors.set(username, { id: user.id, username, isAdministrator: false, botHome: undefined })
  }
  return actors
}

async function addGroups(core: Core, founder: Actor): Promise<void> {
  for (const { path: fullPath, ...draft } of groups) {
    await findOrCreate(
      () => perform(core, founder, showGroup, { group: fullPath }),
      async () => {
        const { path, parentId } = await placeOf(core, founder, fullPath)
        const there = { path, parentId, defaultBranchProtection: DEVELOPERS_PUSH }
        return perform(core, founder, createGroup, { ...draft, ...there })
      },
    )
  }
}

/** @returns ids by full path */
async function addProjects(core: Core, founder: Actor): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  for (const { path: fullPath, ...draft } of projects) {
    const { project } = await findOrCreate(
      () => perform(core, founder, showProject, { project: fullPath }),
      async () => {
        const { path, parentId } = await placeOf(core, founder, fullPath)
        const there = { path, namespaceId: parentId, initializeWithReadme: true }
        return perform(core, founder, createProject, { ...draft, ...there })
      },
    )
    ids.set(fullPath, project.id)
  }
  return ids
}

async function placeOf(core: Core, founder: Actor, fullPath: string) {
  const segments = fullPath.split('/')
  const path = segments.pop()!
  if (segments.length === 0) return { path, parentId: undefined }
  const parent = await perform(core, founder, showGroup, { group: segments.join('/') })
  return { path, parentId: parent.id }
}

/**
 * Creates the variables with which all projects export all signals. One of them contains a token, in case the gateway
 * requires one.
 */
async function setExport(core: Core, founder: Actor, newIngestToken: () => Promise<string>): Promise<void> {
  const keys = exportVariableKeys(core.settings.serviceName)
  const values = [
    { key: keys.signals, value: async () => 'traces,metrics,logs' },
    { key: keys.token, value: newIngestToken, masked: true },
  ]
  for (const { value, ...variable } of values) {
    await findOrCreate(
      () => perform(core, founder, groupVariables.get, { parent: COMPANY, key: variable.key }),
      async () => perform(core, founder, groupVariables.create, { parent: COMPANY, ...variable, value: await value() }),
    )
  }
}

/** Returns the input of the operation for the body of a hook. */
const recordInput = (project: string, pipelineId: number, hook: Readonly<Record<string, unknown>>): object => ({
  project,
  pipelineId,
  objectKind: hook.object_kind,
  objectAttributes: hook.object_attributes,
  builds: hook.builds,
  bridges: hook.bridges,
  payload: JSON.stringify(hook),
})
