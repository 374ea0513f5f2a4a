import { recordInstance } from '@penstock/converter'
import {
  type Forge,
  type ForgeName,
  forgeNames,
  forges,
  type Input,
  parseLossless,
  RecordError,
  readInput,
} from '@penstock/forges'

export interface ReceivedBody {
  readonly input: Input
  /** The forge that the body was read as; absent if it was recognised. */
  readonly forge?: ForgeName | undefined
  /** JSON of the body without the pipeline's variables, which may hold secrets. */
  readonly text: string
  /** The `recordDigest` the record, if it was computed in a worker thread because the record is large. */
  readonly digest?: string
}

/** A project in the form of pipeline hooks. */
export interface HookProject {
  readonly id: number
  readonly name: string
  readonly web_url: string
  readonly path_with_namespace: string
  readonly default_branch: string | null
}

export interface BodyContext {
  /** The time of arrival, used for warnings about implausible times. */
  readonly receivedAtNs?: bigint
  /** The forge that sent the body; absent to recognise it by the body. */
  readonly forge?: ForgeName | undefined
  /** Replaces the project that a pipeline hook names. */
  readonly project?: HookProject
  /** The highest number of jobs; a pipeline with more is refused. Default: any number. */
  readonly maxJobs?: number
}

/**
 * Reads the body of a record or hook, and removes the pipeline's variables from the text to be stored.
 *
 * @throws RecordError
 */
export function readBody(
  text: string,
  { receivedAtNs, forge, project, maxJobs = Number.POSITIVE_INFINITY }: BodyContext = {},
): ReceivedBody {
  const parsed = parseLossless(text)
  const body = project !== undefined && isObject(parsed) ? withProject(parsed, project) : parsed
  const input = readInput(body, { receivedAtNs, forge })
  requireShortHost(input)
  if (input.kind === 'pipeline' && input.record.jobs.length > maxJobs) {
    throw new RecordError('builds', `has more than ${maxJobs} jobs, bridges included`)
  }
  const members = variableMembers(input)
  const isChanged = body !== parsed || hasVariables(body, text, members)
  return {
    input,
    text: isChanged ? serializeWithoutVariables(body, text, members) : text,
    ...(forge !== undefined && { forge }),
  }
}

type JsonObject = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Replaces the project of a body. The project of the source pipeline is replaced too, if both named the same project.
 */
function withProject(body: JsonObject, project: HookProject): JsonObject {
  const { source_pipeline: source, project: named } = body
  if (!isObject(source) || !isObject(named) || !isSameProject(source.project, named)) return { ...body, project }
  return { ...body, project, source_pipeline: { ...source, project } }
}

/** Compares two projects by the first of these fields that both have. */
function isSameProject(one: unknown, other: JsonObject): boolean {
  if (!isObject(one)) return false
  const key = ['id', 'path_with_namespace', 'web_url'].find((each) => Boolean(one[each]) && Boolean(other[each]))
  return key !== undefined && one[key] === other[key]
}

/** Fits a DNS name and a port. Keys contain the host, and PostgreSQL cannot index long keys. */
const MAX_HOST_CHARACTERS = 260

function requireShortHost(input: Input): void {
  const host = recordInstance(input.kind === 'job' ? input.event : input.record, { instanceId: undefined })
  if (host.length > MAX_HOST_CHARACTERS)
    throw new RecordError('project.web_url', 'contains a host name that is too long')
}

/**
 * Returns whether the text contains variables, also in a repeated field or under an escaped name. The pattern is tried first,
 * because most bodies have an empty list.
 */
function hasVariables(body: unknown, text: string, members: readonly string[]): boolean {
  if (nonEmptyVariables.test(text)) return true
  if (!isObject(body)) return false
  if (members.some((name) => name !== 'variables' && text.includes(`"${name}"`))) return true
  return variableHolders(body).some((holder) =>
    members.some((name) => {
      const variables = holder[name]
      return Array.isArray(variables) ? variables.length > 0 : variables !== undefined && variables !== null
    }),
  )
}

const nonEmptyVariables = /"variables"\s*:(?!\s*(?:\[\s*\]|null\b))/

/** Matches integers that `parseLossless` returns as bigint; it returns shorter ones as numbers. */
const mayHaveLongIntegers = /\d{16}/

/**
 * Serializes the parsed body without variables. Repeated fields of the text disappear, because
 * only the parsed one is written.
 */
function serializeWithoutVariables(body: unknown, text: string, members: readonly string[]): string {
  const bare = withoutVariables(body, members)
  try {
    return mayHaveLongIntegers.test(text) ? withLongIntegers(bare, text) : JSON.stringify(bare)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RecordError('', 'is nested too deeply')
  }
}

/** Returns the members that contain the variables or parameters of a run. */
function variableMembers(input: Input): readonly string[] {
  const given = input.kind === 'job' ? input.event.forge : input.record.forge
  const name = forgeNames.find((each) => each === given)
  const forge: Forge | undefined = name && forges[name]
  return forge?.variableMembers ?? ['variables']
}

/**
 * The fields that can contain variables, in addition to the top level of the body: `object_attributes` in hooks,
 * `pipeline` in REST API responses; `build` and `resource` of other forges, and the list `actions` in a build of Jenkins.
 */
const holderNames = ['object_attributes', 'pipeline', 'build', 'resource']

function variableHolders(body: JsonObject): JsonObject[] {
  const holders = [body, ...holderNames.map((name) => body[name])].filter(isObject)
  return holders.flatMap((holder) => [
    holder,
    ...(Array.isArray(holder.actions) ? holder.actions.filter(isObject) : []),
  ])
}

function withoutVariables(body: unknown, members: readonly string[]): unknown {
  if (!isObject(body)) return body
  const bare = omit(body, members)
  for (const name of holderNames) {
    const holder = bare[name]
    if (isObject(holder)) bare[name] = omit(holder, members)
  }
  return bare
}

/** Returns an object without some members. Those of its actions are removed, too. */
function omit(object: JsonObject, members: readonly string[]): Record<string, unknown> {
  const rest = omitMembers(object, members)
  if (!Array.isArray(object.actions)) return rest
  const actions: unknown[] = object.actions
  return { ...rest, actions: actions.map((action) => (isObject(action) ? omitMembers(action, members) : action)) }
}

const omitMembers = (object: JsonObject, members: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !members.includes(name)))

/** Serializes a value that `parseLossless` has returned. */
export function losslessText(value: unknown): string {
  let hasLongIntegers = false
  const text = JSON.stringify(value, (_, each) => {
    if (typeof each !== 'bigint') return each
    hasLongIntegers = true
    return 0
  })
  return hasLongIntegers ? withLongIntegers(value, text) : text
}

/**
 * Serializes a value with bigints, which `JSON.stringify` does not support: they are written as strings with a marker,
 * and the marker is removed afterwards. The marker is a run of U+0000 that is longer than any such run in the text, so
 * no other string contains it.
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
