import { recordInput, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { putPipelineRecord } from '../../ci/pipelines/pipeline-operations.ts'
import { projectVariables } from '../../ci/variables/variable-operations.ts'
import { archiveProject, updateProject } from '../../code/projects/project-operations.ts'
import { createUser, updateUser } from '../../identity/accounts/user-operations.ts'
import { createGroup, removeGroup, updateGroup } from '../../identity/namespaces/group-operations.ts'
import { projectMembers } from '../../identity/namespaces/member-operations.ts'
import { ensureRootToken } from '../../identity/tokens/root-token.ts'
import { createIssue, removeIssue, updateIssue } from '../../work/issues/issue-operations.ts'
import { projectLabels } from '../../work/labels/label-operations.ts'
import { projectMilestones } from '../../work/milestones/milestone-operations.ts'
import { flag, id, text, time } from '../kit/field-table.ts'
import { accessLevels } from '../model/access-level.ts'
import type { Project } from '../model/project.ts'
import type { User } from '../model/user.ts'
import type { EventListener } from './context.ts'
import type { DomainEvent } from './event.ts'
import type { InputSchema, Operation } from './operation.ts'
import { perform } from './perform.ts'
import { changesBetween, comparedFields } from './record-change.ts'

let world: World
let mira: User
let root: User
let project: Project

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  root = await world.user('root', { isAdministrator: true })
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, accessLevels.owner)
})
afterEach(() => world.close())

/** Performs an operation, and returns its result and the changes of its events by type. */
async function heard<Input extends InputSchema, Result>(
  operation: Operation<Input, Result>,
  input: object,
  actor = mira,
): Promise<{ result: Result; events: Record<string, DomainEvent['changes']> }> {
  const events: Record<string, DomainEvent['changes']> = {}
  const result = await perform({ ...world.core, listeners: [listenerInto(events)] }, actor, operation, input)
  return { result, events }
}

const types: EventListener['types'] = { has: () => true } as never
const listenerInto = (events: Record<string, DomainEvent['changes']>): EventListener => ({
  types,
  async onEvent(_, { type, changes }) {
    events[type] = changes
  },
})
const change = (previous: unknown, current: unknown) => ({ previous, current })

test('fields are compared by name; secrets and equal values are left out', () => {
  const fields = {
    id: id(),
    title: text('title').optional(),
    isOpen: flag('is_open').as('open'),
    token: text('sealed_token').secret(),
    updatedAtMs: time('updated_at_ms'),
  }
  const before = { id: 1, title: undefined, isOpen: true, token: 'hush', updatedAtMs: 5 }
  const after = { ...before, title: 'A', isOpen: false, token: 'other', updatedAtMs: 6 }
  const compared = comparedFields(fields)
  const changed = { title: change(null, 'A'), open: change(true, false), updatedAtMs: change(5, 6) }
  expect(changesBetween(compared, before, after)).toEqual(changed)
  expect(changesBetween(compared, before, before)).toEqual({})
  expect(changesBetween(compared, undefined, before)).toEqual({
    id: change(null, 1),
    open: change(null, true),
    updatedAtMs: change(null, 5),
  })
})

test('issues: values before and after, from creation to removal', async () => {
  const at = world.clock.nowMs()
  const { result: issue, events } = await heard(createIssue, { project: project.id, title: 'Leak', labels: ['bug'] })
  expect(events['issue.created']).toMatchObject({
    iid: change(null, 1),
    title: change(null, 'Leak'),
    labels: change(null, ['bug']),
    assigneeIds: change(null, []),
    authorId: change(null, mira.id),
    state: change(null, 'opened'),
  })
  // The label did not exist.
  expect(events['label.created']).toMatchObject({ name: change(null, 'bug') })
  await world.clock.advance(1_000)
  const one = { project: project.id, issueIid: issue.iid }
  const update = await heard(updateIssue, { ...one, title: 'Leaks', assigneeIds: [mira.id], stateEvent: 'close' })
  const changes = {
    title: change('Leak', 'Leaks'),
    assigneeIds: change([], [mira.id]),
    state: change('opened', 'closed'),
    closedAtMs: change(null, at + 1_000),
    closedById: change(null, mira.id),
    updatedAtMs: change(at, at + 1_000),
  }
  expect(update.events).toEqual({ 'issue.updated': changes, 'issue.closed': changes })
  expect((await heard(removeIssue, one)).events['issue.removed']).toMatchObject({ title: change('Leaks', null) })
})

test('milestones, labels and members', async () => {
  const milestone = await heard(projectMilestones.create, { parent: project.id, title: '1.0' })
  const one = { parent: project.id, milestoneId: milestone.result.id }
  const closed = await heard(projectMilestones.update, { ...one, stateEvent: 'close' })
  expect(closed.events).toEqual({ 'milestone.closed': { state: change('active', 'closed') } })
  const label = await heard(projectLabels.create, { parent: project.id, name: 'bug', color: '#fff' })
  const renamed = await heard(projectLabels.update, { parent: project.id, labelId: label.result.id, newName: 'fault' })
  expect(renamed.events).toEqual({ 'label.updated': { name: change('bug', 'fault') } })
  const noor = await world.user('noor')
  const member = { parent: project.id, userId: noor.id }
  const added = await heard(projectMembers.add, { ...member, accessLevel: 20 })
  expect(added.events).toEqual({ 'member.added': { level: change(null, 20) } })
  const promoted = await heard(projectMembers.update, { ...member, accessLevel: 30 })
  expect(promoted.events).toEqual({ 'member.updated': { level: change(20, 30) } })
})

test('the value of a variable is in no event', async () => {
  const variable = { parent: project.id, key: 'TOKEN' }
  const { events } = await heard(projectVariables.create, { ...variable, value: 'hush-hush', masked: false })
  const updated = await heard(projectVariables.update, { ...variable, value: 'hush-again', masked: true })
  expect(updated.events).toEqual({ 'variable.updated': { masked: change(false, true) } })
  expect(JSON.stringify([events, updated.events])).not.toContain('hush')
})

test('projects, groups and users', async () => {
  const changed = await heard(updateProject, { project: project.id, description: 'Tools' })
  expect(changed.events).toEqual({ 'project.updated': { description: change(null, 'Tools') } })
  const archived = await heard(archiveProject, { project: project.id })
  expect(archived.events).toEqual({ 'project.archived': { isArchived: change(false, true) } })
  const group = await heard(createGroup, { name: 'Web', path: 'web' }, root)
  const renamed = await heard(updateGroup, { group: group.result.id, name: 'Sites' }, root)
  expect(renamed.events).toEqual({ 'group.updated': { name: change('Web', 'Sites') } })
  expect((await heard(removeGroup, { group: group.result.id }, root)).events).toHaveProperty(['group.removed'])
  const draft = { username: 'noor', name: 'Noor', email: 'noor@example.test', password: 'a long password' }
  const user = await heard(createUser, draft, root)
  const again = await heard(updateUser, { user: user.result.user.id, name: 'Noor Elm', password: 'another one' }, root)
  expect(again.events).toEqual({ 'user.updated': { name: change('Noor', 'Noor Elm') } })
  expect(JSON.stringify([user.events, again.events])).not.toMatch(/password|another/)
})

test('pipelines: their status, and the statuses of the jobs that changed', async () => {
  const put = (status: string, jobs: readonly [number, string][]) =>
    heard(
      putPipelineRecord,
      recordInput({
        project: project.id,
        pipelineId: 7,
        objectAttributes: { id: 7, ref: 'main', status },
        builds: jobs.map(([jobId, jobStatus]) => ({
          id: jobId,
          name: `job ${jobId}`,
          stage: 'test',
          status: jobStatus,
        })),
      }),
    )
  expect(
    (
      await put('running', [
        [1, 'success'],
        [2, 'running'],
      ])
    ).events['pipeline.created'],
  ).toEqual({
    status: change(null, 'running'),
    jobStatuses: change({}, { 1: 'success', 2: 'running' }),
  })
  expect(
    (
      await put('success', [
        [1, 'success'],
        [2, 'success'],
        [3, 'skipped'],
      ])
    ).events['pipeline.updated'],
  ).toEqual({
    status: change('running', 'success'),
    jobStatuses: change({ 2: 'running' }, { 2: 'success', 3: 'skipped' }),
  })
})

test('deployments: their events keep their order among those of the environments', async () => {
  const received: string[] = []
  const listener: EventListener = {
    types,
    async onEvent(_, { type, objectId }) {
      received.push(`${type} ${objectId}`)
    },
  }
  const job = (jobId: number, name: string, more: object = {}) => {
    const environment = { name, ...more }
    return { id: jobId, name: `job ${jobId}`, stage: 'deploy', status: 'success', environment }
  }
  await perform(
    { ...world.core, listeners: [listener] },
    mira,
    putPipelineRecord,
    recordInput({
      project: project.id,
      pipelineId: 7,
      objectAttributes: { id: 7, ref: 'main', status: 'success' },
      builds: [
        job(1, 'staging'),
        job(2, 'staging'),
        job(3, 'staging', { deploymentTier: 'testing' }),
        job(4, 'staging', { action: 'stop' }),
        job(5, 'production'),
        job(6, 'staging'),
        job(7, 'production'),
      ],
    }),
  )
  expect(received.map((each) => each.split(' ')[0])).toEqual([
    'pipeline.created',
    'environment.created',
    'environment.created',
    'deployment.created',
    'deployment.created',
    'environment.updated',
    'deployment.created',
    'environment.stopped',
    'deployment.created',
    'environment.started',
    'deployment.created',
    'deployment.created',
  ])
  const stored = await world.core.db.read.selectFrom('events').select(['type', 'object_id']).orderBy('id').execute()
  expect(stored.map(({ type, object_id }) => `${type} ${object_id}`).slice(-received.length)).toEqual(received)
})

test('the first administrator is announced like any other user', async () => {
  await world.core.db.write((db) => db.updateTable('users').set({ is_admin: 0 }).execute())
  const events: Record<string, DomainEvent['changes']> = {}
  await ensureRootToken({ ...world.core, listeners: [listenerInto(events)] })
  expect(Object.keys(events)).toEqual(['user.created', 'access_token.created'])
})
