import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from '../body/fields.ts'
import { fixtureBodies, lastRecord, readBody, readRecord } from '../forge-fixtures.harness.ts'
import { withJobEvents } from '../gitlab/job-events.ts'
import type { JobEvent } from '../record/job-event.ts'
import type { JobRecord } from '../record/pipeline-record.ts'
import { withUncountedAttempt } from '../record/uncounted-attempts.ts'
import { toOutcome } from './status-words.ts'

const at = (time: string): bigint => BigInt(Date.parse(`2026-02-03T${time}Z`)) * 1_000_000n

function readEvent(body: unknown): JobEvent {
  const input = readBody(body)
  if (input.kind !== 'job') throw new Error('no job hook')
  return input.event
}

const giteaJob = { id: 2, run_id: 1, name: 'unit', status: 'queued' }
const giteaUrl = 'https://example.com/git/api/v1/repos/g/p/actions/runs/1'

const jobsNamed = (name: string, jobs = lastRecord(name).jobs): Readonly<Record<string, JobRecord>> =>
  Object.fromEntries(jobs.map((job) => [job.name, job]))

test.each([
  ['completed', 'success', 'success'],
  ['completed', 'neutral', 'success'],
  ['completed', 'failure', 'failed'],
  ['completed', 'timed_out', 'failed'],
  ['completed', 'startup_failure', 'failed'],
  ['completed', 'cancelled', 'canceled'],
  ['completed', 'stale', 'canceled'],
  ['completed', 'skipped', 'skipped'],
  ['completed', 'action_required', 'manual'],
  ['completed', 'Melted', 'melted'],
  ['completed', 'constructor', 'constructor'],
  ['completed', undefined, 'completed'],
  ['in_progress', 'success', 'running'],
  ['queued', undefined, 'pending'],
  ['pending', undefined, 'waiting_for_resource'],
  ['waiting', undefined, 'manual'],
  ['dreaming', undefined, 'dreaming'],
])('the state %s with the conclusion %s is %s', (state, conclusion, status) => {
  expect(toOutcome(state, conclusion).status).toBe(status)
})

describe('jobs', () => {
  test('a job that ran has a queue time and a duration, a runner and steps', () => {
    expect(jobsNamed('github-push-run').test).toMatchObject({
      queuedSeconds: 18,
      durationSeconds: 284,
      runner: { id: 77n, name: 'forge-arm-02', group: 'Anvils', tags: ['self-hosted', 'linux', 'arm64'] },
      requiredTags: ['self-hosted', 'linux', 'arm64'],
      url: 'https://github.com/ferrous-labs/anvil/actions/runs/18400000101/job/52100000102',
      steps: [{ name: 'Set up job', status: 'success' }, { name: 'make test' }, { name: 'Complete job' }],
    })
  })

  test('a job that was canceled in the queue never started, although it has a start', () => {
    const { gpu, build, deploy } = jobsNamed('github-canceled-while-queued')
    expect(gpu).toMatchObject({
      status: 'canceled',
      startedAtNs: undefined,
      queuedSeconds: undefined,
      runner: undefined,
    })
    expect(build).toMatchObject({ status: 'canceled', startedAtNs: at('09:00:09') })
    expect(deploy).toMatchObject({ status: 'skipped', startedAtNs: undefined, durationSeconds: undefined })
  })

  test('a job that started before it was created has no queue time', () => {
    expect(jobsNamed('github-job-started-before-it-was-created').build?.queuedSeconds).toBeUndefined()
  })

  test('jobs of one name are different jobs, and matrix jobs have a group', () => {
    const { jobs } = lastRecord('github-reusable-workflow-and-matrix')
    expect(jobs.filter(({ name }) => name === 'same name').map(({ effective }) => effective)).toEqual([true, true])
    expect(jobs.map(({ group }) => group?.name).filter((name) => name !== undefined)).toEqual([
      'test',
      'test',
      'test',
      'deploy / apply',
    ])
  })

  test('a skipped step takes no time, and times outside its job are not its own', () => {
    const steps = jobsNamed('github-skipped-steps-with-absurd-times').build?.steps ?? []
    expect(
      steps.map(({ name, status, startedAtNs, finishedAtNs }) => [name, status, startedAtNs, finishedAtNs]),
    ).toEqual([
      ['Set up job', 'success', at('09:00:09'), at('09:00:11')],
      ['make', 'success', at('09:00:11'), at('09:03:40')],
      ['Deploy preview', 'skipped', at('09:03:40'), at('09:03:40')],
      ['Notify', 'skipped', at('09:03:41'), at('09:03:41')],
      ['Upload cache', 'skipped', undefined, undefined],
      ['Retry', 'skipped', undefined, undefined],
      ['Complete job', 'success', at('09:03:41'), at('09:04:00')],
    ])
  })

  test('more than a thousand steps are bounded with a warning', () => {
    const [{ bodies } = { bodies: [] }] = fixtureBodies('github-push-run')
    const [job] = Array.isArray(bodies[0]?.jobs) ? bodies[0].jobs : []
    const steps = Array.from({ length: 1_001 }, (_, number) => ({ name: `${number}`, status: 'queued', number }))
    const input = readBody({ ...bodies[0], jobs: [{ ...job, steps }] })
    if (input.kind !== 'pipeline') throw new Error('no run')
    expect(input.record.jobs[0]?.steps).toHaveLength(1_000)
    expect(input.warnings.items).toEqual([{ path: 'jobs[0].steps', reason: expect.stringContaining('1000') }])
  })

  test.each(['github-first-page-of-jobs-alone'])('%s: the number of jobs is unknown', (name) => {
    expect(lastRecord(name)).toMatchObject({ jobsUnreadable: true, jobs: [{ id: 52100000251n }] })
  })

  test('pages of jobs are one list', () => {
    const record = lastRecord('github-pages-of-jobs')
    expect(record.jobs.map(({ name }) => name)).toEqual(['build', 'lint', 'docs'])
    expect(record.jobsUnreadable).toBeUndefined()
  })
})

describe('runs', () => {
  test('an attempt has its own start and the jobs that it ran', () => {
    const [fixture] = fixtureBodies('github-two-attempts')
    const [first, second] = (fixture?.bodies ?? []).map(readRecord)
    expect(first).toMatchObject({ attempt: 1, previousAttempt: undefined, status: 'failed' })
    expect(first?.jobs.map(({ name }) => name)).toEqual(['build', 'lint', 'test'])
    expect(second).toMatchObject({
      attempt: 2,
      previousAttempt: { runId: 18400000105n, attempt: 1 },
      startedAtNs: at('11:30:00'),
      user: { username: 'bo-quench' },
      jobs: [{ name: 'test', id: 52100000222n, attempt: 2 }],
    })
  })

  test('jobs of a later attempt than the run are left out with a warning', () => {
    const [first, second] = fixtureBodies('github-two-attempts')[0]?.bodies ?? []
    const input = readBody({ run: first?.run, jobs: second?.jobs })
    if (input.kind !== 'pipeline') throw new Error('no run')
    expect(input.record).toMatchObject({ attempt: 1, jobsUnreadable: true, jobs: [{ name: 'build' }] })
    expect(input.warnings.items).toEqual([{ path: 'jobs', reason: expect.stringContaining('attempt 2') }])
  })

  test.each([
    ['github-pull-request', { mergeRequest: { id: 2100334455n, iid: 91n, targetBranch: 'main' }, tag: false }],
    ['github-fork-pull-request', { mergeRequest: undefined, tag: false, ref: 'quieter-bellows' }],
    ['github-merge-queue', { mergeRequest: { iid: 88n, targetBranch: 'main' }, tag: false }],
    ['github-release-of-a-tag', { ref: 'v2.1.0', tag: true }],
    ['github-push-run', { ref: 'main', tag: undefined, mergeRequest: undefined }],
    ['github-startup-failure', { status: 'failed', failureReason: 'startup_failure', jobs: [] }],
    ['github-job-timed-out', { failureReason: 'timed_out', jobs: [{ failureReason: 'timed_out' }, {}] }],
    ['github-times-with-an-offset', { createdAtNs: at('09:00:00'), updatedAtNs: at('09:05:00') }],
    ['gitea-rest-bundle', { name: 'ci.yml', ref: 'main', tag: false, attempt: undefined, createdAtNs: undefined }],
    ['gitea-tag-in-a-list-of-workflow-jobs', { ref: 'v0.3.0', tag: true, jobs: [{ name: 'publish' }] }],
    ['gitea-canceled-before-it-started', { startedAtNs: undefined, finishedAtNs: at('07:30:00') }],
    ['gitea-second-attempt-of-1-27', { attempt: 2, startedAtNs: at('09:00:04'), jobs: [{ name: 'test' }] }],
    ['forgejo-success', { name: 'test.yaml', durationSeconds: 65, jobsUnknown: true, iid: 101n }],
    ['forgejo-duration-as-text', { durationSeconds: 64.5, status: 'failed' }],
    ['forgejo-pull-request', { ref: undefined, mergeRequest: { iid: 9n } }],
  ])('%s', (name, expected) => {
    expect(lastRecord(name)).toMatchObject(expected)
  })

  test('an unknown conclusion is kept, and the job has the times in which it ran', () => {
    expect(jobsNamed('github-unknown-conclusion').build).toMatchObject({
      status: 'melted',
      startedAtNs: at('09:00:09'),
      finishedAtNs: at('09:04:00'),
      steps: [{ status: 'melted' }],
    })
  })

  test('the hook of a pull request of Gitea has the title', () => {
    const [hook] = fixtureBodies('gitea-pull-request')[0]?.bodies ?? []
    expect(readRecord(hook)).toMatchObject({
      name: 'CI',
      mergeRequest: { iid: 12n, title: 'Draft: Clay recycling', state: 'opened', draft: true, targetBranch: 'main' },
    })
  })

  test('steps that repeat the failure of their job have no status of their own', () => {
    const { build } = jobsNamed('gitea-failed-job-with-copied-step-results')
    expect(build?.steps?.map(({ status }) => status)).toEqual(['unknown', 'unknown', 'unknown'])
  })

  test('a job of Forgejo takes its times from its steps', () => {
    expect(lastRecord('forgejo-bundle-with-steps').jobs).toMatchObject([
      { name: 'test (1.25)', startedAtNs: at('13:00:04'), finishedAtNs: at('13:01:09'), durationSeconds: 65 },
      { name: 'publish', status: 'skipped', startedAtNs: undefined, steps: undefined },
    ])
  })
})

describe('the forge of a body', () => {
  test.each(['github', 'gitea', 'forgejo'])('fixtures of %s', (forge) => {
    for (const { name, bodies } of fixtureBodies(`${forge}-`)) {
      for (const body of bodies.filter(({ workflow_run, workflow_job, run }) => workflow_run ?? workflow_job ?? run)) {
        const input = readBody(body)
        expect([name, input.kind === 'pipeline' ? input.record.forge : input.event.forge]).toEqual([name, forge])
      }
    }
  })

  test.each<[string, object]>([
    ['github', { run: { id: 1, status: 'completed', head_sha: 'f' }, jobs: [] }],
    ['gitea', { run: { id: 1, status: 'completed', head_sha: 'f', started_at: '2026-02-03T09:00:00Z' }, jobs: [] }],
    ['gitea', { run: { id: 1, status: 'queued', head_sha: 'f' }, jobs: [{ ...giteaJob, run_url: giteaUrl }] }],
    ['gitea', { run: { id: 1, status: 'queued', head_sha: 'f' }, jobs: { jobs: [{ ...giteaJob, url: giteaUrl }] } }],
    ['forgejo', { run: { id: 1, status: 'success', html_url: 'x', stopped: '2026-02-03T09:00:00Z' }, jobs: [] }],
    ['forgejo', { action: 'success', run: { id: 1, status: 'success', trigger_user: {} } }],
  ])('a body with few members of %s: %#', (forge, body) => {
    expect(readRecord(body).forge).toBe(forge)
  })

  test('no e-mail address is in a record', () => {
    for (const { bodies } of ['github-', 'gitea-', 'forgejo-'].flatMap(fixtureBodies)) {
      for (const body of bodies.filter(({ workflow_run, workflow_job, run }) => workflow_run ?? workflow_job ?? run)) {
        const text = JSON.stringify(readBody(body), (_, value) => (typeof value === 'bigint' ? `${value}` : value))
        expect(text).not.toContain('canary-mail')
      }
    }
  })
})

/** Returns the hooks that the runs and the jobs of a bundle have been sent in. */
function hooksOf({ run, jobs, workflow }: JsonObject): {
  readonly run: JsonObject
  readonly jobs: readonly JsonObject[]
} {
  const repository = isObject(run) ? run.repository : undefined
  const pages = Array.isArray(jobs) ? jobs : [jobs]
  const listed = pages.flatMap((page) => (isObject(page) ? (page.jobs ?? page.workflow_jobs ?? page) : []))
  return {
    run: { action: 'completed', workflow, workflow_run: run, repository, sender: {} },
    jobs: listed.map((job: unknown) => ({ action: 'completed', workflow_job: job, repository, sender: {} })),
  }
}

const bundles = ['github-', 'gitea-']
  .flatMap(fixtureBodies)
  .flatMap(({ name, bodies }) => bodies.filter(({ run }) => run !== undefined).map((body) => [name, body] as const))

test.each(bundles)('%s: hooks say the same as REST', (_, body) => {
  const rest = readRecord(body)
  const hooks = hooksOf(body)
  // Hooks of Gitea 1.26 do not count the attempts of runs, which are found by the times of its jobs.
  const isFound = rest.attemptsUncounted && rest.attempt !== undefined
  const record = isFound ? withUncountedAttempt(readRecord(hooks.run), rest.attempt ?? 1) : readRecord(hooks.run)
  const { jobs: none, jobsUnknown, ...run } = record
  expect({ none, jobsUnknown }).toEqual({ none: [], jobsUnknown: true })
  expect(rest).toMatchObject(run)
  const events = new Map(hooks.jobs.map(readEvent).map((event) => [event.jobId, event]))
  for (const job of rest.jobs) {
    const hooked = isFound ? { id: job.id, name: job.name } : job
    expect(events.get(job.id)).toMatchObject({ pipelineId: rest.id, project: rest.project, job: hooked })
  }
  if (rest.jobs.length === 0) return
  const hooked = rest.jobs.flatMap(({ id }) => events.get(id) ?? [])
  const joined = withJobEvents(record, hooked.toReversed())
  expect({ ...joined, jobsUnreadable: rest.jobsUnreadable }).toEqual(rest)
})

test.each(bundles)('%s: the order of jobs does not matter', (_, body) => {
  const { jobs } = body
  if (!Array.isArray(jobs)) return
  const rest = readRecord(body)
  fc.assert(
    fc.property(fc.shuffledSubarray(jobs, { minLength: jobs.length }), (shuffled) => {
      expect(readRecord({ ...body, jobs: shuffled }).jobs).toEqual(rest.jobs)
    }),
    { numRuns: 20 },
  )
})
