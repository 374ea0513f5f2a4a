import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConvertOptionsInput } from '@penstock/converter'
import type { RecordError } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { conversionOf } from '../conversion.ts'
import { bodiesOf, caseNames, flagsOf } from '../fixtures.ts'
import { ciVariables, type JobFacts } from './ci-variables.ts'
import { hookLine, ndjson } from './hook-line.ts'
import { attributeOf, spansOf } from './json-spans.ts'

interface Printed {
  readonly trace_id: string
  readonly span_id: string
  readonly pipeline_span_id: string
  readonly resource_attributes: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
}

async function traceContext(env: Record<string, string>, flags: readonly string[] = []): Promise<Printed> {
  const { exitCode, stdout, stderr } = await penstock(['trace-context', '--format', 'json', ...flags], { env })
  expect(exitCode, stderr).toBe(0)
  return JSON.parse(stdout)
}

interface Exported {
  readonly traceId: string
  readonly spanId: string
  readonly pipelineSpanId: string
  readonly traceState: string
  readonly flags: number
  readonly attributes: ReadonlyMap<string, unknown>
}

/** Returns one job as exported: its ids, and the attributes of its span, its pipeline's span and the resource. */
function exportOfJob(hook: unknown, jobId: bigint, options: ConvertOptionsInput): Exported {
  const [resource] = conversionOf(hook, options).traces.resources
  const spans = resource!.scopes.flatMap(({ items }) => items)
  const attribute = (at: number, key: string) => spans[at]!.attributes.find((each) => each.key === key)?.value
  const place = spans.findIndex((_, at) => attribute(at, 'job.id') === jobId)
  const pipeline = spans.findIndex((_, at) => attribute(at, 'pipeline.id') !== undefined)
  const attributes = [
    ...(resource!.resource?.attributes ?? []),
    ...spans[pipeline]!.attributes,
    ...spans[place]!.attributes,
  ]
  return {
    traceId: spans[place]!.traceId,
    spanId: spans[place]!.spanId,
    pipelineSpanId: spans[pipeline]!.spanId,
    traceState: spans[place]!.traceState,
    flags: spans[place]!.flags,
    attributes: new Map(attributes.map(({ key, value }) => [key, value])),
  }
}

type Section = Readonly<Record<string, unknown>>
type Body = JobFacts & {
  readonly builds?: readonly Section[]
  readonly bridges?: readonly Section[]
}
/** Returns whether the values can be those of environment variables from a forge. */
const isPossible = (env: Record<string, string>): boolean =>
  env.CI_PROJECT_URL !== undefined &&
  env.CI_UPSTREAM_PIPELINE_ID !== env.CI_PIPELINE_ID &&
  Object.values(env).every((value) => value.isWellFormed() && !/\p{Cc}/u.test(value)) &&
  (env.CI_PIPELINE_SOURCE !== 'parent_pipeline' ||
    env.CI_UPSTREAM_PIPELINE_ID !== undefined ||
    env.PENSTOCK_ROOT_PIPELINE_ID !== undefined)

interface Job {
  readonly name: string
  readonly hook: Body
  readonly job: Section
  readonly env: Record<string, string>
}

/** A case with a number as its title, which only the variables contain. */
const wrongTyped = 'wrong-typed-optional-fields'

const jobs: readonly Job[] = caseNames.flatMap((name) =>
  bodiesOf(name).flatMap((body) => {
    const hook = body as Body
    if (name === wrongTyped || hook.object_attributes === undefined || !isReadable(hook)) return []
    return (Array.isArray(hook.builds) ? (hook.builds as Section[]) : [])
      .filter((job) => job.bridge !== true && !hook.bridges?.some(({ id }) => id === job.id))
      .map((job) => ({ name: `${name}, job ${job.id}`, hook, job, env: ciVariables(hook, job) }))
      .filter(({ env }) => isPossible(env))
  }),
)

function isReadable(hook: Body): boolean {
  try {
    conversionOf(hook)
    return true
  } catch (error) {
    if ((error as RecordError).name === 'RecordError') return false
    throw error
  }
}

const optionSets: readonly ConvertOptionsInput[] = [
  {},
  { idScheme: 'native' },
  { instanceId: 'forge-7', multiProject: 'same-trace', vendorNamespace: 'acme', providerName: 'gitlab' },
]

describe.each(optionSets)('under %j', (options) => {
  test('the trace context of every job in the fixtures is that of its exported span', async () => {
    expect(jobs.length).toBeGreaterThan(200)
    for (const { name, hook, job, env } of jobs) {
      const printed = await traceContext(env, flagsOf(options))
      const exported = exportOfJob(hook, BigInt(job.id as number), options)
      expect({ name, trace: printed.trace_id, span: printed.span_id, pipeline: printed.pipeline_span_id }).toEqual({
        name,
        trace: exported.traceId,
        span: exported.spanId,
        pipeline: exported.pipelineSpanId,
      })
      expect(printed.environment.TRACEPARENT).toBe(
        `00-${exported.traceId}-${exported.spanId}-0${exported.flags & 0xff}`,
      )
      expect(printed.environment.TRACESTATE ?? '').toBe(exported.traceState)
      for (const [key, value] of Object.entries(printed.resource_attributes)) {
        // The export leaves out the type of the ref if the hook lacks the flag; the variables always contain it.
        if (key !== 'vcs.ref.head.type')
          expect({ name, key, value: exported.attributes.get(key) }).toEqual({ name, key, value })
      }
    }
  })
})

const inJob = {
  CI_PIPELINE_ID: '31',
  CI_PIPELINE_SOURCE: 'push',
  CI_PROJECT_URL: 'https://ci.example.com/harbour/tide-tables',
  CI_JOB_ID: '380',
}

test('literal id vectors', async () => {
  const { stdout } = await penstock(['trace-context', '--format', 'dotenv'], { env: inJob })
  expect(stdout).toMatch(/^TRACEPARENT=00-f09bd275a66f6824d2b176f2a52ef4b6-7844386fb3f17be8-03$/m)
})

test('a shell reads every printed value unchanged', async () => {
  const title = `it's "$(rm -rf x)" \`id\` \\ 100% a=b,c;d #é 試験`
  const env = {
    ...inJob,
    CI_MERGE_REQUEST_IID: '7',
    CI_MERGE_REQUEST_TITLE: title,
    OTEL_RESOURCE_ATTRIBUTES: `team=it's%20ours,cicd.pipeline.run.id=30`,
  }
  const { stdout } = await penstock(['trace-context'], { env })
  const shell = spawnSync('sh', [
    '-c',
    'eval "$1"; printf "%s\n%s\n" "$TRACEPARENT" "$OTEL_RESOURCE_ATTRIBUTES"',
    'sh',
    stdout,
  ])
  const [traceparent, list = ''] = shell.stdout.toString().split('\n')
  expect(traceparent).toBe('00-f09bd275a66f6824d2b176f2a52ef4b6-7844386fb3f17be8-03')
  const read = Object.fromEntries(list.split(',').map((entry) => entry.split('=').map(decodeURIComponent)))
  expect(read).toMatchObject({ team: `it's ours`, 'cicd.pipeline.run.id': '31', 'vcs.change.title': title })
  const dotenv = await penstock(['trace-context', '--format', 'dotenv'], { env })
  expect(dotenv.stdout).toContain(`\nOTEL_RESOURCE_ATTRIBUTES=${list}\n`)
  expect(list).toMatch(/^[\w.~%=,/:-]*$/)
})

test('a second run in one job prints the same', async () => {
  const first = await traceContext(inJob)
  expect((await traceContext({ ...inJob, ...first.environment })).environment).toEqual(first.environment)
})

test('an existing trace state of another trace is emptied', async () => {
  const { environment } = await traceContext({ ...inJob, TRACESTATE: 'other=1' })
  expect(environment.TRACESTATE).toBe('')
  expect((await traceContext(inJob)).environment).not.toHaveProperty('TRACESTATE')
})

test('a value that makes the SDK for JavaScript discard all attributes is left out, with a warning', async () => {
  const env = { ...inJob, CI_RUNNER_ID: '9', CI_RUNNER_DESCRIPTION: 'r'.repeat(256) }
  const { stdout, stderr } = await penstock(['trace-context'], { env })
  expect(stdout).toContain('cicd.worker.id=9')
  expect(stdout).not.toContain('cicd.worker.name')
  expect(stderr).toBe('penstock: left out, more than 255 characters: cicd.worker.name\n')
})

test('the limit applies to the encoded text, as in older SDKs for JavaScript', async () => {
  const longest = `https://ci.example.com/${'a/b-'.repeat(58)}`
  expect(longest).toHaveLength(255)
  const env = { ...inJob, CI_PIPELINE_URL: longest, CI_RUNNER_ID: '9', CI_RUNNER_DESCRIPTION: 'é'.repeat(43) }
  const { stdout, stderr } = await penstock(['trace-context', '--format', 'dotenv'], { env })
  expect(stdout).toContain(`cicd.pipeline.run.url.full=${longest},`)
  expect(stdout).not.toContain('cicd.worker.name')
  expect(stderr).toBe('penstock: left out, more than 255 characters: cicd.worker.name\n')
})

test('an attribute that the command computes replaces one of the same key, others are kept', async () => {
  const env = { ...inJob, OTEL_RESOURCE_ATTRIBUTES: 'cicd.pipeline.run.id=mine,team=harbour' }
  const { environment } = await traceContext(env)
  expect(environment.OTEL_RESOURCE_ATTRIBUTES?.split(',')).toEqual(
    expect.arrayContaining(['cicd.pipeline.run.id=31', 'team=harbour']),
  )
  expect(environment.OTEL_RESOURCE_ATTRIBUTES).not.toContain('mine')
})

test.each([
  ['no pair', 'garbage-7', 'must be key=value pairs separated by commas'],
  ['two signs', 'team=harbour,a=b=garbage-7', 'must be key=value pairs separated by commas'],
  ['bad encoding', 'garbage-7=%zz', 'must be percent-encoded'],
  ['huge', `garbage-7=${'x'.repeat(70_000)}`, 'must have at most 65536 bytes'],
])('a malformed list does not prevent the trace context: %s', async (_, list, complaint) => {
  const whole = await penstock(['trace-context'], { env: inJob })
  expect(whole.stdout).toContain('export TRACEPARENT=')
  const env = { ...inJob, OTEL_RESOURCE_ATTRIBUTES: list }
  expect(await penstock(['trace-context'], { env })).toMatchObject({
    exitCode: 0,
    stdout: whole.stdout,
    stderr: `penstock: OTEL_RESOURCE_ATTRIBUTES is malformed and is replaced: ${complaint}\n`,
  })
})

test('the reference lists every attribute that is printed', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/telemetry.md'), 'utf8')
  const keys = new Set<string>()
  for (const { env } of jobs)
    for (const key of Object.keys((await traceContext(env)).resource_attributes)) keys.add(key)
  expect(keys.size).toBeGreaterThan(20)
  expect([...keys].filter((key) => !page.includes(`\`${key}\``))).toEqual([])
})

const inChild = { ...inJob, CI_PIPELINE_SOURCE: 'parent_pipeline', CI_PROJECT_ID: '42' }
const upstream = { CI_UPSTREAM_PIPELINE_ID: '30', CI_UPSTREAM_JOB_ID: '370', CI_UPSTREAM_PROJECT_ID: '42' }

/** Returns the trace of a job of pipeline 31 below the given root pipeline. */
async function traceOfRoot(rootId: string): Promise<string> {
  return (await traceContext({ ...inJob, CI_PIPELINE_ID: rootId })).trace_id
}

describe('a pipeline that another one has started', () => {
  test('belongs to the trace of the root that its trigger job passed on', async () => {
    const { trace_id } = await traceContext({ ...inChild, PENSTOCK_ROOT_PIPELINE_ID: '29', ...upstream })
    expect(trace_id).toBe(await traceOfRoot('29'))
  })

  test('belongs to the trace of the root that a flag names', async () => {
    const env = { ...inChild, PENSTOCK_ROOT_PIPELINE_ID: '29' }
    const { trace_id } = await traceContext(env, ['--root-pipeline-id', '28'])
    expect(trace_id).toBe(await traceOfRoot('28'))
  })

  test('uses its direct parent as the root if no root is known, with a message', async () => {
    const { stdout, stderr, exitCode } = await penstock(['trace-context', '--format', 'json'], {
      env: { ...inChild, ...upstream },
    })
    expect({ exitCode, trace: JSON.parse(stdout).trace_id }).toEqual({ exitCode: 0, trace: await traceOfRoot('30') })
    expect(stderr).toBe(
      'penstock: the upstream pipeline is assumed to be the root of the trace; if it is not, pass PENSTOCK_ROOT_PIPELINE_ID on in its trigger job\n',
    )
  })

  test('has its own trace if the other pipeline belongs to another project, with any variable', async () => {
    const env = { ...inJob, CI_PIPELINE_SOURCE: 'pipeline', PENSTOCK_ROOT_PIPELINE_ID: '29', ...upstream }
    expect((await traceContext(env)).trace_id).toBe(await traceOfRoot('31'))
    expect((await traceContext(env, ['--multi-project', 'same-trace'])).trace_id).toBe(await traceOfRoot('29'))
  })

  test('has the same trace as in the export of a grandchild after its parents', async () => {
    const source_pipeline = (id: number) => ({ pipeline_id: id, job_id: id * 10 + 1, project: { id: 42 } })
    const child = { ...JSON.parse(hookLine(2, { source: 'parent_pipeline' })), source_pipeline: source_pipeline(1) }
    const grandchild = {
      ...JSON.parse(hookLine(3, { source: 'parent_pipeline' })),
      source_pipeline: source_pipeline(2),
    }
    const hooks = [hookLine(1), JSON.stringify(child), JSON.stringify(grandchild)]
    const { stdout } = await penstock(['convert', '-', '--signals', 'traces'], { stdin: ndjson(hooks) })
    const exported = spansOf(stdout).find((span) => attributeOf(span, 'job.id') === '30')
    const env = { ...ciVariables(grandchild, grandchild.builds[0]), PENSTOCK_ROOT_PIPELINE_ID: '1' }
    const { trace_id, span_id } = await traceContext(env)
    expect({ trace_id, span_id }).toEqual({ trace_id: exported?.traceId, span_id: exported?.spanId })
  })

  test('a root pipeline ignores the variable, which may be set for its children', async () => {
    const { trace_id } = await traceContext({ ...inJob, PENSTOCK_ROOT_PIPELINE_ID: '29' })
    expect(trace_id).toBe(await traceOfRoot('31'))
  })
})

describe('refused with one line', () => {
  test.each<{ what: string; env: Record<string, string | undefined>; flags?: string[]; complaint: string }>([
    {
      what: 'outside a job',
      env: { CI_JOB_ID: undefined },
      complaint: 'CI_JOB_ID is not set; this works inside a CI job only',
    },
    {
      what: 'an invalid job id',
      env: { CI_JOB_ID: `1'; rm -rf x` },
      complaint: `CI_JOB_ID: must be an integer from 1 to 9223372036854775807, got "1'; rm -rf x"`,
    },
    {
      what: 'a job id of more than 64 bits',
      env: { CI_JOB_ID: '9223372036854775808' },
      complaint: 'CI_JOB_ID: must be an integer from 1 to 9223372036854775807, got "9223372036854775808"',
    },
    {
      what: 'a line feed',
      env: { CI_PIPELINE_ID: '31\n7' },
      complaint: 'CI_PIPELINE_ID: must be one line without control characters',
    },
    {
      what: 'an escape',
      env: { CI_JOB_NAME: 'a\u001b[31m' },
      complaint: 'CI_JOB_NAME: must be one line without control characters',
    },
    {
      what: 'a huge value',
      env: { CI_JOB_NAME: 'x'.repeat(100_000) },
      complaint: 'CI_JOB_NAME: must have at most 4096 bytes',
    },
    {
      what: 'an invalid URL',
      env: { CI_PROJECT_URL: 'javascript:alert(1)' },
      complaint: 'CI_PROJECT_URL: must be an http or https URL',
    },
    {
      what: 'no project URL',
      env: { CI_PROJECT_URL: '', CI_PROJECT_ID: '42' },
      complaint: 'CI_PROJECT_URL is not set; without it, ids need an instance id',
    },
    {
      what: 'a child without a known parent',
      env: { CI_PIPELINE_SOURCE: 'parent_pipeline' },
      complaint:
        'this pipeline was started by another one, and no variable says by which: its trigger job has to pass on PENSTOCK_ROOT_PIPELINE_ID',
    },
    {
      what: 'an invalid root id',
      env: { CI_PIPELINE_SOURCE: 'parent_pipeline', PENSTOCK_ROOT_PIPELINE_ID: '$CI_PIPELINE_ID' },
      complaint: 'PENSTOCK_ROOT_PIPELINE_ID: must be an integer from 1 to 9223372036854775807, got "$CI_PIPELINE_ID"',
    },
    {
      what: 'a root for a pipeline that is its own root',
      env: {},
      flags: ['--root-pipeline-id', '29'],
      complaint: 'root pipeline id: is for pipelines that another one has started, but CI_PIPELINE_SOURCE is push',
    },
  ])('$what', async ({ env, flags = [], complaint }) => {
    expect(await penstock(['trace-context', ...flags], { env: { ...inJob, ...env } })).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `penstock: ${complaint}\n`,
    })
  })
})
