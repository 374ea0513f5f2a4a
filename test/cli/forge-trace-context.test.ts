import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { bodiesOf, caseFile, caseNames } from '../fixtures.ts'
import { jobsOfForge } from './forge-variables.ts'

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}
interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly attributes: ReadonlyMap<string, string | undefined>
}

const toMap = (attributes: readonly Attribute[]) =>
  new Map(attributes.map(({ key, value }) => [key, value.stringValue] as const))

/** Returns the spans of a case with the attributes of their resource. */
async function exportedSpans(name: string): Promise<ExportedSpan[]> {
  const { stdout } = await penstock(['convert', caseFile(name), '--signals', 'traces'])
  const resources = stdout.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line).resourceSpans))
  return resources.flatMap(({ resource, scopeSpans }) =>
    scopeSpans[0].spans.map((span: { traceId: string; spanId: string; attributes: Attribute[] }) => ({
      ...span,
      attributes: toMap([...resource.attributes, ...span.attributes]),
    })),
  )
}

/** An old form of hook has fewer fields than the variables. */
const withFewerFields = ['azure-hook-of-version-1']
/** A Jenkins server that does not know its URL has no variable with that of a build. */
const withoutUrl = ['jenkins-not-built-without-its-url']
/** Notifications of Jenkins have another form than its answers, which the variables are made from. */
const isNotification = (name: string): boolean => name.startsWith('jenkins-notification')

const RUN_ID = 'cicd.pipeline.run.id'
const JOB_ID = 'cicd.pipeline.task.run.id'

describe.each(Object.entries(jobsOfForge))('a job of %s computes the ids of the export', (forge, jobsOf) => {
  const cases = caseNames.filter(
    (name) => name.startsWith(`${forge}-`) && !withoutUrl.includes(name) && !isNotification(name),
  )

  test.each(cases)('%s', async (name) => {
    const spans = await exportedSpans(name)
    const jobs = bodiesOf(name).flatMap(jobsOf)
    for (const { env, runId, jobId, flags = [] } of jobs) {
      const run = await penstock(['trace-context', '--forge', forge, '--format', 'json', ...flags], { env })
      expect(run.exitCode, run.stderr).toBe(0)
      const context = JSON.parse(run.stdout)
      const runSpan = spans.find(({ spanId }) => spanId === context.pipeline_span_id)
      // A case with job hooks only, or with a run that is not final, has no span of the run.
      if (runSpan === undefined) {
        expect(spans.filter(({ attributes }) => attributes.get(RUN_ID) === runId)).toEqual([])
        continue
      }
      expect(runSpan.attributes.get(RUN_ID)).toBe(runId)
      expect(context.trace_id).toBe(runSpan.traceId)
      const span = spans.find(({ spanId }) => spanId === context.span_id)
      if (jobId !== undefined && span === undefined) {
        expect(spans.filter(({ attributes }) => attributes.get(JOB_ID) === jobId)).toEqual([])
        continue
      }
      expect(span?.attributes.get(JOB_ID)).toBe(jobId)
      expect(run.stderr.includes('the id of the job is unknown')).toBe(jobId === undefined)
      for (const [key, value] of Object.entries(context.resource_attributes)) {
        const exported = span?.attributes.get(key) ?? runSpan.attributes.get(key)
        if (exported === undefined && withFewerFields.includes(name)) continue
        expect([name, key, value]).toEqual([name, key, exported])
      }
    }
  })

  test('finds the spans of jobs, and that of a run', async () => {
    const found = { jobs: 0, runs: 0 }
    for (const name of cases) {
      const ids = new Set((await exportedSpans(name)).map(({ attributes }) => attributes.get(JOB_ID)))
      for (const { jobId } of bodiesOf(name).flatMap(jobsOf)) {
        if (jobId === undefined) found.runs++
        else if (ids.has(jobId)) found.jobs++
      }
    }
    expect(found.jobs).toBeGreaterThan(0)
    if (forge !== 'buildkite') expect(found.runs).toBeGreaterThan(0)
  })
})

describe('errors', () => {
  test.each([
    [
      'github',
      {},
      'GITHUB_RUN_ID, GITHUB_REPOSITORY and GITHUB_SERVER_URL are not set; this works inside a CI job only',
    ],
    ['circleci', {}, 'CIRCLE_WORKFLOW_ID is not set'],
    ['buildkite', {}, 'BUILDKITE_BUILD_ID is not set'],
    [
      'azure',
      { BUILD_BUILDID: '7' },
      'SYSTEM_TEAMFOUNDATIONCOLLECTIONURI and SYSTEM_TEAMPROJECTID are not set; this works inside a CI job only',
    ],
    ['jenkins', {}, 'BUILD_NUMBER and BUILD_URL are not set'],
    ['jenkins', { BUILD_NUMBER: '7', BUILD_URL: 'ftp://x:canary@y' }, 'BUILD_URL: must be an http or https URL'],
    ['jenkins', { BUILD_NUMBER: '7', BUILD_URL: 'https://x' }, 'BUILD_URL: must be the URL of the build'],
    ['bitbucket', {}, 'BITBUCKET_PIPELINE_UUID and BITBUCKET_REPO_FULL_NAME are not set'],
    ['forgejo', {}, 'GITHUB_RUN_ID, GITHUB_REPOSITORY and GITHUB_SERVER_URL are not set'],
    [
      'buildkite',
      { BUILDKITE_BUILD_ID: 'b', BUILDKITE_BUILD_NUMBER: 'x' },
      'BUILDKITE_BUILD_NUMBER: must be an integer',
    ],
    ['circleci', { CIRCLE_WORKFLOW_ID: 'w'.repeat(2_000) }, 'workflow.id: must have at most 1024 characters'],
    ['circleci', { CIRCLE_WORKFLOW_ID: 'w', CIRCLE_JOB: 'a\nb' }, 'CIRCLE_JOB: must be one line'],
  ])('%s, %j', async (forge, env, message) => {
    const { exitCode, stdout, stderr } = await penstock(['trace-context', '--forge', forge], { env })
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('canary')
  })

  test('a job id is refused if a variable has it', async () => {
    const env = { CIRCLE_WORKFLOW_ID: 'w', CIRCLE_WORKFLOW_JOB_ID: 'j' }
    const { exitCode, stderr } = await penstock(['trace-context', '--forge', 'circleci', '--job-id', 'k'], { env })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('the variable CIRCLE_WORKFLOW_JOB_ID has the job id')
  })
})

test('a build that another one started is in the trace of the root that is passed on', async () => {
  const traceOf = async (env: Record<string, string>) => {
    const run = await penstock(['trace-context', '--forge', 'buildkite', '--format', 'json'], { env })
    return JSON.parse(run.stdout).trace_id as string
  }
  const child = { BUILDKITE_BUILD_ID: 'child', BUILDKITE_TRIGGERED_FROM_BUILD_ID: 'parent' }
  expect(await traceOf({ ...child, PENSTOCK_ROOT_PIPELINE_ID: 'root' })).toBe(
    await traceOf({ BUILDKITE_BUILD_ID: 'root' }),
  )
  expect(await traceOf(child)).toBe(await traceOf({ BUILDKITE_BUILD_ID: 'parent' }))
})
