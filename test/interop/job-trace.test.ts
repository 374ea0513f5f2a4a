import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ciVariables } from '../cli/ci-variables.ts'
import { type Collector, startCollector } from '../collector/collector.ts'
import { waitForExported } from '../collector/exported-file.ts'
import { finished, type Outcome, penstock } from '../command-line.ts'
import { codeBlocks, runShell } from '../page-commands.ts'
import { describeWithClients, preparedPaths } from './prepared.ts'

const root = join(import.meta.dirname, '../..')
const page = 'docs/guides/jobs-join-their-trace.md'

/** A pipeline with one job, with texts that need encoding. */
const hook = {
  object_kind: 'pipeline',
  object_attributes: {
    id: 31,
    name: 'Nightly, "all"',
    ref: 'feature/größer=besser',
    tag: false,
    sha: 'bcbb5ec396a2c0f828686f14fac9b80b780504f2',
    source: 'push',
    status: 'success',
    created_at: '2026-02-11 09:20:14 UTC',
    finished_at: '2026-02-11 09:21:14 UTC',
  },
  project: {
    id: 42,
    name: 'tide-tables',
    path_with_namespace: 'harbour/tide-tables',
    web_url: 'https://ci.example.com/harbour/tide-tables',
  },
  builds: [
    {
      id: 380,
      stage: 'test',
      name: `it's 100% "unit": 1/3`,
      status: 'success',
      created_at: '2026-02-11 09:20:14 UTC',
      started_at: '2026-02-11 09:20:15 UTC',
      finished_at: '2026-02-11 09:21:14 UTC',
      runner: { id: 9, description: 'shared runner, large' },
    },
  ],
}

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: ReadonlyMap<string, unknown>
  readonly resource: ReadonlyMap<string, unknown>
}

interface JsonAttribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

const mapOf = (attributes: readonly JsonAttribute[] = []) =>
  new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

interface JsonRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: readonly JsonAttribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[]
  }[]
}

type JsonSpan = Omit<Span, 'attributes' | 'resource'> & { readonly attributes?: readonly JsonAttribute[] }

function spansIn(lines: readonly string[]): Span[] {
  return lines.flatMap((line) =>
    (JSON.parse(line) as JsonRequest).resourceSpans.flatMap(({ resource, scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) =>
        spans.map((span) => ({
          ...span,
          attributes: mapOf(span.attributes),
          resource: mapOf(resource.attributes),
        })),
      ),
    ),
  )
}

/** Runs a program of the page as a tool of the job, with the variables that `eval "$(penstock trace-context)"` exports. */
function runTool(language: 'js' | 'python', variables: Readonly<Record<string, string>>): Promise<Outcome> {
  const [program = ''] = codeBlocks(page, language)
  const [command, args] =
    language === 'js'
      ? [process.execPath, ['--input-type=module', '-e', program]]
      : [preparedPaths().python, ['-c', program]]
  const child = spawn(command, args, { cwd: root, env: { PATH: process.env.PATH ?? '', ...variables } })
  child.stdin.end()
  return finished(child)
}

const keysOfRecipe = [
  'cicd.pipeline.run.id',
  'cicd.pipeline.task.run.id',
  'cicd.pipeline.task.name',
  'cicd.pipeline.task.type',
  'vcs.ref.head.name',
  'vcs.ref.head.revision',
  'vcs.repository.url.full',
]

/** Returns the variables that the shell recipe of the page exports in a job. */
async function variablesOfRecipe(env: Record<string, string>): Promise<Record<string, string>> {
  const [recipe = ''] = codeBlocks(page, 'sh')
  const { stdout } = await runShell(`${recipe}\nprintf '%s\\n' "$TRACEPARENT" "$OTEL_RESOURCE_ATTRIBUTES"`, env)
  const [TRACEPARENT = '', OTEL_RESOURCE_ATTRIBUTES = ''] = stdout.split('\n')
  return { TRACEPARENT, OTEL_RESOURCE_ATTRIBUTES }
}

describeWithClients('spans of the tools of a job', () => {
  let directory: string
  let collector: Collector
  let file: string

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'job-trace-'))
    file = join(directory, 'telemetry.jsonl')
    collector = await startCollector({
      config: { file: join(root, 'collector-config/agent.yaml') },
      env: {
        COLLECTOR_FILE: file,
        COLLECTOR_CUMULATIVE_FILE: join(directory, 'c.jsonl'),
        COLLECTOR_PROMETHEUS_ENDPOINT: '127.0.0.1:0',
      },
    })
  })
  afterAll(async () => {
    await collector?.stop()
    await rm(directory, { recursive: true })
  })

  test('are below the exported span of the job, with the same attributes', async () => {
    const [job] = hook.builds
    const env = ciVariables(hook, job!)
    const printed = await penstock(['trace-context', '--format', 'json'], { env })
    const { environment, resource_attributes } = JSON.parse(printed.stdout)
    const byRecipe = await variablesOfRecipe(env)
    for (const [language, way, variables] of [
      ['js', 'command', environment],
      ['python', 'command', environment],
      ['js', 'recipe', byRecipe],
      ['python', 'recipe', byRecipe],
    ] as const) {
      const { exitCode, stderr } = await runTool(language, {
        ...variables,
        OTEL_SERVICE_NAME: `${language} by ${way}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.httpEndpoint,
      })
      expect({ language, way, exitCode, stderr }).toEqual({ language, way, exitCode: 0, stderr: '' })
    }
    const input = join(directory, 'hook.json')
    await writeFile(input, JSON.stringify(hook))
    const exported = await penstock(['export', input, '--endpoint', collector.httpEndpoint])
    expect(exported).toMatchObject({ exitCode: 0 })

    const spans = spansIn(await waitForExported(file, 'traces', 6))
    const [pipelineSpan] = spans.filter(({ name }) => name.startsWith('RUN '))
    const [jobSpan] = spans.filter(({ attributes }) => attributes.has('job.id'))
    const described = new Map([...pipelineSpan!.resource, ...pipelineSpan!.attributes, ...jobSpan!.attributes])
    const tools = spans.filter(({ resource }) => String(resource.get('service.name')).includes(' by '))
    expect(tools.map(({ name }) => name)).toEqual(['npm test', 'pytest', 'npm test', 'pytest'])
    for (const { traceId, parentSpanId, resource } of tools) {
      expect({ traceId, parentSpanId }).toEqual({ traceId: jobSpan!.traceId, parentSpanId: jobSpan!.spanId })
      const shared = [...resource].filter(([key]) => /^(?:cicd|vcs|svc)\./.test(key))
      expect(shared).toEqual(shared.map(([key]) => [key, described.get(key)]))
      const isWhole = String(resource.get('service.name')).endsWith('command')
      expect(shared.map(([key]) => key).sort()).toEqual(
        (isWhole ? Object.keys(resource_attributes) : keysOfRecipe).toSorted(),
      )
    }
  })
})
