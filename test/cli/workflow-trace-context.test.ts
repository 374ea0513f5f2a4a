import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { caseFile, fixtures } from '../fixtures.ts'

const githubJob = {
  GITHUB_RUN_ID: '18400000101',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'ferrous-labs/anvil',
  GITHUB_REPOSITORY_ID: '700123457',
  GITHUB_WORKFLOW: 'CI',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_REF_NAME: 'main',
  GITHUB_SHA: '70e3f630d6c993cfe4c6eee271c920d95bed1464',
}
const secondAttempt = {
  ...githubJob,
  GITHUB_RUN_ID: '18400000105',
  GITHUB_RUN_ATTEMPT: '2',
  GITHUB_SHA: '873ec62477155b33b2d5e6f61957b1ddd5560998',
}
const giteaJob = {
  GITHUB_RUN_ID: '501',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_SERVER_URL: 'https://gitea.example.com/',
  GITHUB_REPOSITORY: 'pottery/wheel',
}

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[]
}

/** Returns the spans of a fixture, and the attributes of its resource. */
async function exported(name: string) {
  const { stdout } = await penstock(['convert', caseFile(name), '--signals', 'traces'])
  const requests = stdout.trim().split('\n')
  const resources = requests.flatMap((line) => JSON.parse(line).resourceSpans)
  const spans: Span[] = resources.flatMap(({ scopeSpans }) => scopeSpans[0].spans)
  return { spans, resource: resources[0].resource.attributes as Span['attributes'] }
}

async function traceContext(env: Record<string, string>, flags: readonly string[]) {
  const run = await penstock(['trace-context', '--format', 'json', ...flags], { env })
  expect(run.exitCode, run.stderr).toBe(0)
  return JSON.parse(run.stdout)
}

/** Returns the values that the attributes of a trace context have in the export. */
function exportedAs(context: { resource_attributes: object }, lists: readonly (Span['attributes'] | undefined)[]) {
  const known = lists.flatMap((list) => list ?? [])
  const exportedValue = (key: string) => known.find((each) => each.key === key)?.value.stringValue
  return Object.fromEntries(Object.keys(context.resource_attributes).map((key) => [key, exportedValue(key)]))
}

describe('a job computes the ids of the export', () => {
  test.each([
    ['github-push-run', 'github', githubJob, ['--job-id', '52100000102'], 'job: test'],
    ['github-push-run', 'github', githubJob, [], 'RUN CI'],
    ['github-two-attempts', 'github', secondAttempt, ['--job-id', '52100000222'], 'job: test'],
    ['gitea-job-hooks-then-run-hook', 'gitea', giteaJob, ['--job-id', '902'], 'job: test'],
    ['gitea-job-hooks-then-run-hook', 'gitea', giteaJob, [], 'RUN CI'],
  ])('%s, %s', async (name, forge, env, flags, spanName) => {
    const context = await traceContext(env, ['--forge', forge, ...flags])
    const { spans, resource } = await exported(name)
    const span = spans.filter((each) => each.name === spanName).at(-1)
    expect(context).toMatchObject({ trace_id: span?.traceId, span_id: span?.spanId })
    const runSpan = spans.filter(({ traceId, name }) => traceId === span?.traceId && name === 'RUN CI').at(-1)
    expect(context.pipeline_span_id).toBe(runSpan?.spanId)
    expect(exportedAs(context, [resource, runSpan?.attributes, span?.attributes])).toEqual(context.resource_attributes)
  })
})

/** The recorded jobs of a real Gitea, with the variables that its runner sets. */
const recordedJobs: readonly { readonly job_id: number; readonly variables: Record<string, string> }[] = JSON.parse(
  readFileSync(join(fixtures, 'webhooks/gitea-1-26-jobs.json'), 'utf8'),
)
/** The exports of each attempt of a run. */
const casesOfRun: Readonly<Record<string, readonly string[]>> = {
  1: ['gitea-1-26-failed-rest', 'gitea-1-26-rerun-rest'],
  2: ['gitea-1-26-matrix-needs-and-skipped-job'],
  3: ['gitea-1-26-tag-and-workflow-without-name'],
  4: ['gitea-1-26-pull-request'],
}

test.each(recordedJobs)('a recorded job of Gitea computes the ids of the export: %#', async ({ job_id, variables }) => {
  const attempts = await Promise.all((casesOfRun[variables.GITHUB_RUN_ID ?? ''] ?? []).map(exported))
  const spans = attempts.flatMap((attempt) => attempt.spans)
  const resource = attempts[0]?.resource
  const flags = ['--forge', 'gitea']
  const withoutId = await traceContext(variables, flags)
  const run = spans.find(({ traceId, spanId }) => traceId === withoutId.trace_id && spanId === withoutId.span_id)
  expect(run?.name).toMatch(/^RUN /)
  // The server tells a job that first runs when its run is repeated that this is the first attempt.
  if (variables.GITHUB_JOB === 'report') return
  const withId = await traceContext(variables, [...flags, '--job-id', String(job_id)])
  const job = spans.find(({ traceId, spanId }) => traceId === withId.trace_id && spanId === withId.span_id)
  expect(exportedAs(withId, [resource, run?.attributes, job?.attributes])).toEqual(withId.resource_attributes)
  expect(job).toMatchObject({
    name: expect.stringContaining(`job: ${variables.GITHUB_JOB}`),
    parentSpanId: run?.spanId,
  })
})

test.each([
  [{ ...githubJob, GITHUB_RUN_ID: 'x' }, 'GITHUB_RUN_ID: must be an integer'],
  [{ ...githubJob, GITHUB_SERVER_URL: 'ftp://x:canary@y' }, 'GITHUB_SERVER_URL: must be an http or https URL'],
  [{ ...githubJob, GITHUB_WORKFLOW: 'a\nb' }, 'GITHUB_WORKFLOW: must be one line'],
])('variables of no job are refused: %#', async (env, message) => {
  const { exitCode, stderr } = await penstock(['trace-context', '--forge', 'github'], { env })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(message)
  expect(stderr).not.toContain('canary')
})

test('a forge that is named reads a body that could be of another one', async () => {
  const run = { id: 7, status: 'completed', conclusion: 'success', head_sha: 'f', created_at: '2026-02-03T09:00:00Z' }
  const stdin = JSON.stringify({ run, jobs: [] })
  const providerUnder = async (flags: readonly string[]) => {
    const { stdout } = await penstock(['convert', '-', '--signals', 'traces', ...flags], { stdin })
    return /"vcs\.provider\.name","value":\{"stringValue":"(\w+)"/.exec(stdout)?.[1]
  }
  expect(await providerUnder([])).toBe('github')
  expect(await providerUnder(['--forge', 'gitea'])).toBe('gitea')
  const { exitCode, stderr } = await penstock(['check', '-', '--forge', 'gitlab'], { stdin })
  expect(exitCode).toBe(1)
  expect(stderr + (await penstock(['check', '-', '--forge', 'gitlab'], { stdin })).stdout).toContain(
    'the forge is gitlab',
  )
})

test('a job id is refused for GitLab, which has a variable for it', async () => {
  const run = await penstock(['trace-context', '--job-id', '7'], { env: { CI_JOB_ID: '8' } })
  expect(run.exitCode).toBe(2)
  expect(run.stderr).toContain('CI_JOB_ID')
})
