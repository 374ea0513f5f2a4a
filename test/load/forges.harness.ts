/**
 * Compares the cost of reading and converting a run of each forge with that of GitLab, per span, in one run: `npm run bench`.
 *
 * Each run has 20 jobs, copied from a fixture, with the steps of that fixture and without them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { convert, convertChunks, resolveOptions } from '@penstock/converter'
import { isObject, type JsonObject, type PipelineRecord, parseLossless, readInput } from '@penstock/forges'
import { defaultChunkLimits, RequestEncoder, signalNames } from '@penstock/otlp'
import { atMost, reportBounds } from './bounds.ts'
import { printTable, timeInTurns } from './measure.ts'
import { pipelineHook } from './payloads.ts'

const JOBS = 20
/** The cost of a span as a multiple of GitLab's, at most. */
const MOST_TIMES_GITLAB = 1.5

/** A fixture, the path of its list of jobs, and the member with the steps of a job. */
interface Template {
  readonly file: string
  readonly jobs: readonly string[]
  readonly steps?: string
  /** The member with the id of a job; `id` unless it is named here. */
  readonly id?: string
}

const templates: Readonly<Record<string, Template>> = {
  github: { file: 'pipelines/github-push-run', jobs: ['jobs'], steps: 'steps' },
  gitea: { file: 'pipelines/gitea-rest-bundle', jobs: ['jobs', 'jobs'], steps: 'steps' },
  forgejo: { file: 'pipelines/forgejo-bundle-with-steps', jobs: ['jobs'], steps: 'steps' },
  circleci: { file: 'pipelines/circleci-rest-bundle', jobs: ['jobs'] },
  buildkite: { file: 'pipelines/buildkite-build-of-the-api', jobs: ['jobs'] },
  azure: { file: 'pipelines/azure-build-of-one-job', jobs: ['timeline', 'records'] },
  bitbucket: { file: 'pipelines/bitbucket-push-to-main', jobs: ['steps'], id: 'uuid' },
  woodpecker: { file: 'unnamed/woodpecker-push-of-version-3', jobs: ['workflows'], steps: 'children' },
  drone: { file: 'pipelines/drone-hook-with-its-system', jobs: ['build', 'stages'], steps: 'steps' },
  jenkins: { file: 'pipelines/jenkins-multibranch-build', jobs: ['stages', 'stages'], steps: 'stageFlowNodes' },
}

const options = resolveOptions({ instanceId: 'ci.example.com', project: 'group/app' })
const fixtures = join(import.meta.dirname, '../../../../fixtures')
const encoder = new RequestEncoder('protobuf')

function runOf(template: Template, withSteps: boolean): string {
  const body = parseLossless(readFileSync(join(fixtures, `${template.file}.json`), 'utf8'))
  return JSON.stringify(
    replaceJobs(body, template.jobs, (listed) => copies(listed, template, withSteps)),
    asNumbers,
  )
}

/** Ids above 2^53 are BigInts in a lossless body; those of the fixtures are small. */
const asNumbers = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value)

function replaceJobs(body: unknown, [key = '', ...rest]: readonly string[], replace: (list: JsonObject[]) => unknown) {
  if (!isObject(body)) throw new Error(`no ${key}`)
  const value = body[key]
  const replaced: unknown =
    rest.length > 0 ? replaceJobs(value, rest, replace) : replace((value as []).filter(isObject))
  return { ...body, [key]: replaced }
}

/** Returns copies of the first job that ran. Jobs of Azure are copied with their tasks, which are records beside them. */
function copies(listed: JsonObject[], { steps, id: idKey = 'id' }: Template, withSteps: boolean): JsonObject[] {
  const isAzure = listed.some(({ type }) => type === 'Task')
  const job = listed.find(({ type, name }) => (isAzure ? type === 'Job' : type !== 'waiter' && name !== undefined))
  if (job === undefined) throw new Error('the fixture has no job')
  const tasks = listed.filter(({ parentId, type }) => isAzure && type === 'Task' && parentId === job.id)
  const others = listed.filter(({ type }) => isAzure && type !== 'Task' && type !== 'Job')
  const copied = Array.from({ length: JOBS }, (_, i): JsonObject[] => {
    const id = otherId(job[idKey], i)
    const copy = { ...job, [idKey]: id, name: `${job.name} ${i}` }
    const bare = steps === undefined || withSteps ? copy : { ...copy, [steps]: [] }
    return [bare, ...(withSteps ? tasks : []).map((task) => ({ ...task, id: otherId(task.id, i), parentId: id }))]
  })
  return [...copied.flat(), ...others]
}

/** Returns another id of the same form. */
function otherId(id: unknown, i: number): unknown {
  if (typeof id === 'number') return id + 1_000 * i
  const suffix = i.toString(16).padStart(2, '0')
  return /^\d+$/.test(String(id)) ? String(Number(id) + 1_000 * i) : String(id).replace(/^(\{?)../, `$1${suffix}`)
}

function recordOf(json: string): PipelineRecord {
  const input = readInput(parseLossless(json), { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a run')
  return input.record
}

function convertAll(json: string): number {
  let bytes = 0
  const chunks = convertChunks(recordOf(json), options, { signals: signalNames, encoder, limits: defaultChunkLimits })
  for (const { body } of chunks) bytes += body.byteLength
  return bytes
}

const spanCount = (json: string): number =>
  convert(recordOf(json), options).traces.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items)).length

const runs: Record<string, string> = { gitlab: JSON.stringify(pipelineHook(31, JOBS)) }
for (const [forge, template] of Object.entries(templates)) {
  runs[forge] = runOf(template, false)
  const withSteps = runOf(template, true)
  if (withSteps !== runs[forge]) runs[`${forge}, with steps`] = withSteps
}

const spans = Object.fromEntries(Object.entries(runs).map(([name, json]) => [name, spanCount(json)]))
const timings = timeInTurns(
  Object.fromEntries(Object.entries(runs).map(([name, json]) => [name, () => convertAll(json)])),
  200,
)
const perSpan = (name: string): number => timings[name]!.cpuMicros / spans[name]!
const times = (name: string): number => perSpan(name) / perSpan('gitlab')

console.log(`\nReading and converting a run of ${JOBS} jobs, three signals, protobuf`)
printTable([
  ['', 'bytes', 'spans', 'CPU per span', 'GitLab = 1'],
  ...Object.entries(runs).map(([name, json]) => [
    name,
    String(json.length),
    String(spans[name]),
    `${perSpan(name).toFixed(1)} µs`,
    times(name).toFixed(2),
  ]),
])
reportBounds(
  'CPU per span beside GitLab',
  Object.keys(runs)
    .filter((name) => name !== 'gitlab')
    .map((name) => atMost(name, times(name), MOST_TIMES_GITLAB, 'times', 2)),
)
