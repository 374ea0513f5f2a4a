import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { lastRecord, readRecord } from '../forge-fixtures.harness.ts'
import { hookRules } from './hook-rules.ts'
import { azureServer } from './server.ts'

test('a job has the stage above it, and the tasks below it as steps in their order', () => {
  const { stages, jobs, status } = lastRecord('azure-stages-and-a-partial-success')
  expect({ stages, status }).toEqual({ stages: ['Build', 'Deploy'], status: 'failed' })
  expect(jobs.map(({ name, stage, status }) => [stage, name, status]).toSorted()).toEqual([
    ['Build', 'audit', 'failed'],
    ['Build', 'compile linux', 'success'],
    ['Build', 'compile windows', 'success'],
    ['Deploy', 'rollback', 'skipped'],
    ['Deploy', 'ship', 'success'],
  ])
  expect(jobs.map(({ group }) => group?.name).filter((name) => name !== undefined)).toEqual(['compile', 'compile'])
  const [job] = lastRecord('azure-build-of-one-job').jobs
  expect(job?.group).toBeUndefined()
  expect(job?.stage).toBeUndefined()
  expect(job?.steps?.map(({ name, status }) => [name, status])).toEqual([
    ['Initialize job', 'success'],
    ['Build', 'success'],
    ['Publish', 'skipped'],
  ])
})

test('seven digits of a second are kept, and year 1 is no time', () => {
  expect(lastRecord('azure-build-of-one-job').createdAtNs).toBe(1_777_622_400_123_456_700n)
  expect(lastRecord('azure-build-that-never-ran')).toMatchObject({ startedAtNs: undefined, jobsUnknown: true })
})

test('a retried job has a number; its earlier attempt is in another timeline', () => {
  const [job] = lastRecord('azure-retried-stage').jobs
  expect(job).toMatchObject({ attempt: 2, previousAttemptId: undefined, effective: true })
})

test('an abandoned job failed without its author', () => {
  const { status, jobs } = lastRecord('azure-canceled-build-with-an-abandoned-job')
  expect(status).toBe('canceled')
  expect(jobs.find(({ name }) => name === 'lost')).toMatchObject({
    status: 'failed',
    failureReason: 'infrastructure_failure',
  })
})

test('version 1.0 of the hook has the result in its status, and the commit in a text', () => {
  const { user, ...record } = lastRecord('azure-hook-of-version-1')
  expect(record).toMatchObject({
    status: 'failed',
    failureReason: 'partially_succeeded',
    ref: 'main',
    sha: createHash('sha1').update('v1').digest('hex'),
    jobsUnknown: true,
  })
  expect(record.url).toMatch(/\/_build\/results\?buildId=3008$/)
  expect(user?.username).toBe('Mira Lind')
})

test('a pull request has the branch of its trigger', () => {
  expect(lastRecord('azure-pull-request-of-github')).toMatchObject({
    ref: 'soft-brick',
    mergeRequest: { iid: 91n, title: 'Line with soft brick', draft: true },
    project: { name: 'furnace', path: 'kiln-works/furnace', webUrl: 'https://github.com/kiln-works/furnace' },
  })
})

test('a repository of Azure Repos', () => {
  expect(lastRecord('azure-build-of-one-job').project).toMatchObject({
    name: 'kiln-firmware',
    path: 'kiln-works/Kilns/kiln-firmware',
    webUrl: 'https://dev.azure.com/kiln-works/Kilns/_git/kiln-firmware',
  })
})

test('a timeline as the answer of a list', () => {
  const record = { id: 'j', type: 'Job', name: 'Job', state: 'completed', result: 'succeeded' }
  const build = { id: 5, status: 'completed', result: 'succeeded' }
  for (const timeline of [{ records: [record] }, { count: 1, value: [record] }, [record]]) {
    expect(readRecord({ build, timeline }).jobs).toHaveLength(1)
  }
})

test('records that are their own ancestors end the search for the stage', () => {
  const records = [
    { id: 'j', parentId: 'p', type: 'Job', name: 'Job', state: 'completed' },
    { id: 'p', parentId: 'j', type: 'Phase', name: 'Phase', state: 'completed' },
  ]
  const [job] = readRecord({ build: { id: 5, status: 'completed' }, timeline: { records } }).jobs
  expect(job).toMatchObject({ stage: undefined, status: 'completed' })
})

test('the search for the stage of many jobs below a long chain of records ends', () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => ({
    id: `p${index}`,
    parentId: `p${index + 1}`,
    type: 'Phase',
  }))
  const jobs = Array.from({ length: 20_000 }, (_, index) => ({
    id: `j${index}`,
    parentId: 'p0',
    type: 'Job',
    state: 'completed',
  }))
  const { jobs: read } = readRecord({
    build: { id: 5, status: 'completed' },
    timeline: { records: [...chain, ...jobs] },
  })
  expect(read).toHaveLength(20_000)
})

test('a build without the URL of the API is of the server of its page', () => {
  const web = { href: 'https://dev.azure.com/Kiln-Works/Kilns/_build/results?buildId=5' }
  const build = { id: 5, status: 'completed', result: 'succeeded', _links: { web } }
  expect(readRecord({ build, timeline: null }).project.server).toBe('dev.azure.com/kiln-works')
})

test.each([
  [
    'https://dev.azure.com/Kiln-Works/71777fbc-1cf2-4bd1-9540-128c1c71f766/_apis/build/Builds/2',
    'dev.azure.com/kiln-works',
  ],
  [
    'https://kiln-works.visualstudio.com/71777fbc-1cf2-4bd1-9540-128c1c71f766/_apis/build/Builds/2',
    'dev.azure.com/kiln-works',
  ],
  [
    'https://tfs.example.com/tfs/Kilns/71777fbc-1cf2-4bd1-9540-128c1c71f766/_apis/build/Builds/2',
    'tfs.example.com/tfs/kilns',
  ],
  ['https://tfs.example.com/tfs/Kilns/_apis/build/Builds/2', 'tfs.example.com/tfs/kilns'],
  ['https://example.com/', undefined],
  [undefined, undefined],
])('the server of %s', (url, server) => expect(azureServer(url)).toBe(server))

describe('user name and password', () => {
  const credentials = {
    tokenDigests: [createHash('sha256').update('kiln:sécret-password').digest()],
    secretTokens: [Buffer.from('kiln:sécret-password')],
    signingKeys: [],
  }
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
  test.each([
    [basic('kiln:sécret-password'), undefined],
    [basic('kiln:other-password'), 'token_wrong'],
    ['Bearer kiln', 'token_missing'],
    [undefined, 'token_missing'],
  ])('%s', (authorization, refusal) => {
    expect(hookRules.validateHeaders(credentials, { headers: { authorization }, serviceName: 'x', nowMs: 0 })).toBe(
      refusal,
    )
  })
})
