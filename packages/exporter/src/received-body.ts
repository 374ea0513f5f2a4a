import { type Input, parseLossless, RecordError, readInput, recordInstance } from '@penstock/converter'

export interface ReceivedBody {
  readonly input: Input
  /** JSON of the body without the pipeline's variables, which may hold secrets. */
  readonly text: string
  /** The `digestOf` the record, if it was computed in a worker thread because the record is large. */
  readonly digest?: string
}

/** A project as pipeline hooks spell it. @see spec/pipeline-telemetry.md 1.1 */
export interface HookProject {
  readonly id: number
  readonly name: string
  readonly web_url: string
  readonly path_with_namespace: string
  readonly default_branch: string | null
}

export interface BodyContext {
  /** For the warnings about times that it makes odd. */
  readonly receivedAtNs?: bigint
  /** Takes the place of whatever project a pipeline hook says it is of. */
  readonly project?: HookProject
  /** The highest number of jobs; a pipeline with more is refused. Default: any number. */
  readonly maxJobs?: number
}

/**
 * To be called once per body.
 *
 * @throws RecordError
 * @see spec/pipeline-telemetry.md 1.1, 1.5, 7 (58)
 */
export function readBody(
  text: string,
  { receivedAtNs, project, maxJobs = Number.POSITIVE_INFINITY }: BodyContext = {},
): ReceivedBody {
  const told = parseLossless(text)
  const body = project !== undefined && isObject(told) ? withProject(told, project) : told
  const input = readInput(body, { receivedAtNs })
  requireShortHost(input)
  if (input.kind === 'pipeline' && input.record.jobs.length > maxJobs) {
    throw new RecordError('builds', `has more than ${maxJobs} jobs, bridges included`)
  }
  return { input, text: body !== told || hasVariables(body, text) ? rewritten(body, text) : text }
}

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A source that is of the same project by the names it was told in stays so. */
function withProject(told: JsonObject, project: HookProject): JsonObject {
  const { source_pipeline: source, project: named } = told
  if (!isObject(source) || !isObject(named) || !isSameProject(source.project, named)) return { ...told, project }
  return { ...told, project, source_pipeline: { ...source, project } }
}

/** By the first of these that both have. */
function isSameProject(one: unknown, other: JsonObject): boolean {
  if (!isObject(one)) return false
  const key = ['id', 'path_with_namespace', 'web_url'].find((each) => Boolean(one[each]) && Boolean(other[each]))
  return key !== undefined && one[key] === other[key]
}

/** Of a name in DNS and a port. Keys begin with it, and an index of PostgreSQL holds no long ones. */
const MAX_HOST_CHARACTERS = 260

function requireShortHost(input: Input): void {
  const host = recordInstance(input.kind === 'job' ? input.event : input.record, { instanceId: undefined })
  if (host.length > MAX_HOST_CHARACTERS) throw new RecordError('project.web_url', 'names too long a host')
}

/** Also of a field that was there twice, or whose name is escaped. An empty list is what most bodies have. */
function hasVariables(body: unknown, text: string): boolean {
  if (someVariables.test(text)) return true
  if (!isObject(body)) return false
  return [body, ...holdersOfVariables.map((name) => body[name])].some((holder) => {
    const variables = isObject(holder) ? holder.variables : undefined
    return Array.isArray(variables) ? variables.length > 0 : variables !== undefined && variables !== null
  })
}

const someVariables = /"variables"\s*:(?!\s*(?:\[\s*\]|null\b))/

/** Shorter ones are numbers to `parseLossless`. */
const mayHaveLongIntegers = /\d{16}/

/** Written anew from what was read, so that nothing is left of a field that was there twice. */
function rewritten(body: unknown, text: string): string {
  const bare = withoutVariables(body)
  try {
    return mayHaveLongIntegers.test(text) ? withLongIntegers(bare, text) : JSON.stringify(bare)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RecordError('', 'is nested too deeply')
  }
}

/** Beside the body itself: those of a hook, and of what a REST API tells. */
const holdersOfVariables = ['object_attributes', 'pipeline']

function withoutVariables(body: unknown): unknown {
  if (!isObject(body)) return body
  const { variables: _, ...bare }: Record<string, unknown> = body
  for (const name of holdersOfVariables) {
    const holder = bare[name]
    if (!isObject(holder)) continue
    const { variables: _, ...rest } = holder
    bare[name] = rest
  }
  return bare
}

/**
 * JSON, which has no word for them: they are strings behind a marker meanwhile, which is more U+0000 than begin any string
 * of the text, which has them escaped in this one way.
 */
function withLongIntegers(value: unknown, text: string): string {
  const marker = '\0'.repeat(1 + longestNulRun(text))
  const json = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${marker}${each}` : each))
  const marked = new RegExp(`"(?:\\\\u0000){${marker.length}}(-?\\d+)"`, 'g')
  return json.replace(marked, '$1')
}

function longestNulRun(json: string): number {
  let longest = 0
  for (const [run] of json.matchAll(/(?:\\u0000)+/g)) longest = Math.max(longest, run.length / 6)
  return longest
}
