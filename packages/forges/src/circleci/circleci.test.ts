import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { fixtureBodies, lastRecord, readBody } from '../forge-fixtures.harness.ts'
import { readInput } from '../read-input.ts'
import { hookRules } from './hook-rules.ts'

test('a project of a GitHub App has no vcs: repository and commit come from the trigger', () => {
  expect(lastRecord('circleci-github-app-hook')).toMatchObject({
    ref: 'kiln-curve',
    sha: '56fbf2011e85db218797fb069ec29e375c957d82',
    commit: { title: 'Slow the last hour' },
    project: { name: 'kiln', path: 'kiln-works/kiln', webUrl: 'https://github.com/kiln-works/kiln' },
    jobs: [],
    jobsUnknown: true,
  })
})

test('a workflow that reruns another lists jobs that it did not run', () => {
  expect(lastRecord('circleci-rerun-from-failed').jobs.map(({ name }) => name)).toEqual(['test'])
})

test('an automatic rerun is counted', () => {
  expect(lastRecord('circleci-automatic-rerun')).toMatchObject({ attempt: 2, attemptHasOwnId: true })
})

test('a workflow on hold is not final', () => {
  const [fixture] = fixtureBodies('circleci-approval-on-hold-then-approved')
  const statuses = fixture?.bodies.map((body) => {
    const input = readBody(body)
    return input.kind === 'pipeline' && input.record.status
  })
  expect(statuses).toEqual(['manual', 'success'])
})

test('the words of jobs, in a list answer', () => {
  const { jobs } = lastRecord('circleci-rest-list-answer-of-a-failed-workflow')
  const words = Object.fromEntries(jobs.map(({ name, status, failureReason }) => [name, [status, failureReason]]))
  expect(words).toEqual({
    soak: ['failed', 'timed_out'],
    arm: ['failed', 'infrastructure_failure'],
    lint: ['failed', undefined],
    docs: ['canceled', undefined],
    publish: ['skipped', undefined],
    announce: ['created', undefined],
  })
})

test('slugs of hooks and of REST lead to the same URLs', () => {
  const { project, url, id } = lastRecord('circleci-rest-bundle')
  expect(project).toMatchObject({ path: 'kiln-works/glaze-mixer', webUrl: 'https://github.com/kiln-works/glaze-mixer' })
  expect(url).toBe(`https://app.circleci.com/pipelines/github/kiln-works/glaze-mixer/420/workflows/${id}`)
})

test('a page of the jobs is not all of them', () => {
  const workflow = { id: 'w', status: 'success' }
  const read = (token: string | null) => {
    const jobs = { items: [{ id: 'j', status: 'success' }], next_page_token: token }
    return readInput({ pipeline: { id: 'p' }, workflow, jobs }, { receivedAtNs: undefined })
  }
  expect(read(null)).toMatchObject({ record: { jobsUnreadable: undefined }, warnings: { total: 0 } })
  expect(read('next')).toMatchObject({
    record: { jobs: [{ id: 'j' }], jobsUnreadable: true },
    warnings: { items: [{ path: 'jobs', reason: 'has a next page; fetch the other pages, too' }] },
  })
})

const credentials = { tokenDigests: [], secretTokens: [Buffer.from('old'), Buffer.from('secret')], signingKeys: [] }
const body = Buffer.from('{"type":"workflow-completed"}')
const digest = createHmac('sha256', 'secret').update(body).digest('hex')

test.each([
  [`v1=${digest}`, undefined],
  [`v2=00,v1=${digest}`, undefined],
  [`v1=${digest.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}`, 'signature_wrong'],
  [`v2=${digest}`, 'signature_missing'],
  [undefined, 'signature_missing'],
])('the signature %s', (signature, refusal) => {
  const headers = { 'circleci-signature': signature }
  const early = hookRules.validateHeaders(credentials, { headers, serviceName: 'x', nowMs: 0 })
  expect(early ?? hookRules.validateSignature(credentials, headers, body)).toBe(refusal)
})
