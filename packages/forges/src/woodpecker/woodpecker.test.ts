import { expect, test } from 'vitest'
import { fixtureBodies, lastRecord, readRecord } from '../forge-fixtures.harness.ts'

test('workflows are jobs, and their steps are below them, with the times of all versions', () => {
  const times = ['woodpecker-push-of-version-3', 'woodpecker-steps-of-version-2'].map((name) =>
    lastRecord(name).jobs.map(({ name, runner, steps }) => [
      name,
      runner?.id,
      steps?.map(({ name, status, startedAtNs }) => [name, status, startedAtNs !== undefined]),
    ]),
  )
  const steps = [
    ['clone', 'success', true],
    ['test', 'success', true],
    ['notify', 'skipped', false],
  ]
  expect(times).toEqual([[['build', 3n, steps]], [['build', 3n, steps]]])
})

test('0 is no time, no agent and no earlier pipeline', () => {
  const record = lastRecord('woodpecker-declined')
  expect(record).toMatchObject({ status: 'canceled', startedAtNs: undefined, previousAttempt: undefined })
  expect(record.jobs[0]).toMatchObject({ status: 'skipped', runner: undefined, startedAtNs: undefined })
})

test('a restart is linked to the pipeline before it', () => {
  const [fixture] = fixtureBodies('woodpecker-killed-then-restarted')
  const [first, second] = fixture?.bodies.map(readRecord) ?? []
  expect(first?.status).toBe('canceled')
  expect(second?.previousAttempt).toEqual({ runId: first?.id })
})

test.each([
  ['an id of a pipeline before version 3', { id: 806, number: 106, parent: 805 }, 805n],
  ['a number since version 3, of which the id is unknown', { id: 806, number: 106, parent: 105 }, undefined],
  ['both on a server with one repository', { id: 106, number: 106, parent: 105 }, 105n],
  ['the deployed pipeline', { id: 806, number: 106, parent: 805, event: 'deployment' }, undefined],
])('the parent is %s', (_, members, runId) => {
  const [fixture] = fixtureBodies('woodpecker-push-of-version-3')
  const { previousAttempt } = readRecord({ ...fixture?.bodies[0], ...members })
  expect(previousAttempt?.runId).toBe(runId)
})

test('a pull request has its own branch, and the target as base', () => {
  expect(lastRecord('woodpecker-failed-pull-request')).toMatchObject({
    status: 'failed',
    ref: 'seal-the-lid',
    mergeRequest: { iid: 23n, title: 'Seal the lid', targetBranch: 'main' },
    user: { username: 'tomas' },
  })
})

test('tags, and a cron job without a user', () => {
  expect(lastRecord('woodpecker-tag')).toMatchObject({ ref: 'v0.9.0', tag: true })
  expect(lastRecord('woodpecker-cron-with-an-error')).toMatchObject({
    status: 'failed',
    failureReason: 'error',
    user: undefined,
  })
})

test('a pipeline names neither its server nor its repository', () => {
  expect(lastRecord('woodpecker-tag')).toMatchObject({
    unnamed: ['instanceId', 'project'],
    project: { name: undefined, path: undefined },
  })
})

test('the workflows of a matrix are a group', () => {
  const groups = lastRecord('woodpecker-blocked-then-matrix').jobs.map(({ name, group }) => [name, group?.name])
  expect(groups.filter(([, group]) => group !== undefined)).toEqual([
    ['build', 'build'],
    ['build', 'build'],
  ])
})
