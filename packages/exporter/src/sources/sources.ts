import { createHash } from 'node:crypto'
import { type ConvertOptionsInput, OptionError, resolveOptions } from '@penstock/converter'
import { type Credentials, type Forge, type ForgeName, forgeNames, forges, type HookRules } from '@penstock/forges'
import { type Encoding, type Signal, signalNames } from '@penstock/otlp'
import { z } from 'zod'
import { isDurable } from '../options/durable-options.ts'
import type { Destination } from '../sending/destination.ts'
import { EndpointError, signalUrls } from '../sending/endpoint-url.ts'
import { type RequestHeaders, requestHeaders } from '../sending/request-headers.ts'
import { apiTokenSchema, apiUrlSchema, type SourceApi, sourceApi, validateApi } from './source-api.ts'

/** A forge outside the core that sends its pipeline and job hooks here. */
export interface Source {
  readonly name: string
  /** The forge that sends the hooks. */
  readonly forge: ForgeName
  readonly credentials: Credentials
  /** The REST API that runs are read from if their hooks list no jobs; absent if they are not read. */
  readonly api?: SourceApi | undefined
  /** The OTLP/HTTP base URL. Default: `exporter.endpoint`, or the gateway if that is not set. */
  readonly endpoint: string | undefined
  /** Sent to the endpoint as a bearer token. */
  readonly token: string | undefined
  /** Sent to the endpoint in addition to the token. */
  readonly headers: RequestHeaders | undefined
  /** Default: `exporter.encoding`. */
  readonly encoding: Encoding | undefined
  /** How long the export of a run waits for job hooks, if the hook of the run lists no jobs. */
  readonly settleMs: number
  /** At least one, in listing order. */
  readonly signals: readonly Signal[]
  /** Options that override those in `exporter.options`. */
  readonly options: ConvertOptionsInput
}

/** The configured sources by name. */
export type Sources = ReadonlyMap<string, Source>

/** The error for an invalid configuration of sources. The message names each place and contains no credential. */
export class SourcesError extends Error {
  override readonly name = 'SourcesError'
  /** One line per problem. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

const MAX_SOURCES = 1_000
const MAX_SETTLE_SECONDS = 3_600
/** Allows for an old and a new credential during a rotation, with some reserve. */
const MAX_CREDENTIALS = 8
/** Allows names that fit into a path and a key without escaping. */
export const sourceNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
/** The highest length of a name in a message. */
const MAX_NAME_LENGTH = 64
/** The highest number of problems that are listed; further ones are counted. */
const MAX_PROBLEMS = 100
/** Standard Webhooks requires keys of 24 to 64 bytes, in base64. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

const oneOrSeveral = <Item extends z.ZodType>(item: Item) =>
  z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(item).min(1).max(MAX_CREDENTIALS).optional(),
  )

/**
 * Accepts only tokens that a header transports unchanged: forges remove line breaks, and parsers the surrounding blanks.
 */
const secretToken = z
  .string()
  .min(8)
  .max(512)
  .refine(
    (text) => !/\p{Cc}/u.test(text) && text.trim() === text,
    'must have no control characters, and no blanks at either end',
  )
  .transform((text) => Buffer.from(text))

const signingToken = z.string().transform((text, context) => {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1] ?? ''
  const key = Buffer.from(base64, 'base64')
  if (key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES && key.toString('base64') === base64) return key
  context.addIssue(`must be whsec_ followed by the base64 of ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes`)
  return z.NEVER
})

/** Options that are the same for the whole installation, so that its backends see one vocabulary. */
const installationOptions = ['vendorNamespace', 'providerName']

const convertOptions = z.record(z.string(), z.unknown()).transform((given, context): ConvertOptionsInput => {
  const problems = Object.entries(given).flatMap(([name, value]) => validateOption(name, value) ?? [])
  for (const problem of problems) context.addIssue(problem)
  return problems.length === 0 ? given : z.NEVER
})

/**
 * Returns the problem with one option. Each option can be checked alone, because options do not depend on each other.
 */
function validateOption(name: string, value: unknown): string | undefined {
  if (installationOptions.includes(name)) return `option ${name}: can be set for the whole installation only`
  if (name.length > MAX_NAME_LENGTH) return `option ${name.slice(0, MAX_NAME_LENGTH)}…: no such option`
  try {
    return isDurable(resolveOptions({ [name]: value })) ? undefined : 'option metricsMode: sources support per-run only'
  } catch (error) {
    if (error instanceof OptionError) return error.message
    throw error
  }
}

const endpoint = z.string().transform((text, context) =>
  orIssue(context, () => {
    signalUrls(text)
    return text
  }),
)

const headers = z
  .record(z.string(), z.string())
  .transform((given, context) => orIssue(context, () => requestHeaders(Object.entries(given))))

/** Returns the result of `read`, or adds an issue with its error message. */
function orIssue<Result>(context: z.RefinementCtx, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof EndpointError)) throw error
    context.addIssue(error.message)
    return z.NEVER
  }
}

const sourceSchema = z.strictObject({
  forge: z.enum(forgeNames).default('gitlab'),
  secretToken: oneOrSeveral(secretToken),
  signingToken: oneOrSeveral(signingToken),
  endpoint: endpoint.optional(),
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable characters without blanks')
    .optional(),
  headers: headers.optional(),
  apiToken: apiTokenSchema.optional(),
  apiUrl: apiUrlSchema.optional(),
  signals: z.array(z.enum(signalNames)).min(1),
  options: convertOptions.default({}),
  settleSeconds: z.number().min(0).max(MAX_SETTLE_SECONDS).default(60),
  steps: z.boolean().optional(),
  instanceId: z.string().trim().min(1).optional(),
  project: z.string().trim().min(1).max(1_024).optional(),
  encoding: z.enum(['protobuf', 'json']).optional(),
})

/** The options that a source may set beside its other options. */
const ownOptions = ['instanceId', 'project'] as const

/**
 * Returns the problems of keys in combination. It checks the raw input, because the schema skips such checks while any single
 * key is invalid.
 */
function validateCombinations(given: unknown): string[] {
  if (!isObject(given)) return []
  const { secretToken, signingToken, options, token, headers: own } = given
  const lacksCredential = secretToken === undefined && signingToken === undefined
  const isSetTwice = (key: string) => given[key] !== undefined && isObject(options) && options[key] !== undefined
  const hasTwoTokens =
    token !== undefined && isObject(own) && Object.keys(own).some((name) => /^authorization$/i.test(name))
  return [
    ...(hasTwoTokens ? ['a token and the header authorization are set; use one of them'] : []),
    ...(lacksCredential ? ['needs a secretToken or a signingToken'] : []),
    ...unusedSigningToken(given),
    ...unusableSecretToken(given),
    ...validateApi(given),
    ...ownOptions.filter(isSetTwice).map((key) => `${key} is set twice: beside the options and among them`),
  ]
}

/** A signing token that the forge does not use would let every request pass. */
function unusedSigningToken({ forge, signingToken }: Readonly<Record<string, unknown>>): string[] {
  const name = forgeNames.find((each) => each === forge)
  if (name === undefined || signingToken === undefined) return []
  const { hooks }: Forge = forges[name]
  return hooks.hasSigningTokens ? [] : [`hooks of ${name} have no signingToken; use a secretToken`]
}

/** A secret token that the forge cannot send would refuse every request. */
function unusableSecretToken({ forge, secretToken }: Readonly<Record<string, unknown>>): string[] {
  const name = forgeNames.find((each) => each === forge)
  if (name === undefined) return []
  const { secretTokenForm: form }: HookRules = forges[name].hooks
  const tokens = [secretToken].flat().filter((token) => typeof token === 'string')
  if (form === undefined || tokens.every((token) => form.pattern.test(token))) return []
  return [`the secretToken of ${name} must be ${form.expected}`]
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Reads the configured sources from parsed JSON: an object with one property per source.
 *
 * @throws SourcesError with all problems, up to `MAX_PROBLEMS`
 */
export function readSources(json: unknown): Sources {
  if (!isObject(json)) {
    throw new SourcesError(['the sources must be an object, with one property per source'])
  }
  const entries = Object.entries(json)
  if (entries.length > MAX_SOURCES) throw new SourcesError([`there may be at most ${MAX_SOURCES} sources`])
  const problems: string[] = []
  const sources = new Map<string, Source>()
  for (const [name, value] of entries) {
    const isName = sourceNamePattern.test(name)
    const read = sourceSchema.safeParse(value)
    const found = [
      ...(isName ? [] : ['a name has 1 to 64 letters, digits, dots, - and _, and begins with a letter or digit']),
      ...(read.error?.issues ?? []).map((issue) => problemText(issue, value)),
      ...validateCombinations(value),
    ]
    const place = isName ? name : JSON.stringify(name.slice(0, MAX_NAME_LENGTH))
    for (const problem of found) problems.push(`source ${place}: ${problem}`)
    if (read.success) sources.set(name, sourceOf(name, read.data))
  }
  if (problems.length > MAX_PROBLEMS) {
    throw new SourcesError([...problems.slice(0, MAX_PROBLEMS), `and ${problems.length - MAX_PROBLEMS} more`])
  }
  if (problems.length > 0) throw new SourcesError(problems)
  return sources
}

function sourceOf(name: string, given: z.output<typeof sourceSchema>): Source {
  const { secretToken = [], signingToken = [], signals, options, instanceId, project, steps } = given
  return {
    name,
    forge: given.forge,
    credentials: {
      tokenDigests: secretToken.map((token) => createHash('sha256').update(token).digest()),
      secretTokens: secretToken,
      signingKeys: signingToken,
    },
    api: sourceApi(given.forge, given.apiToken, given.apiUrl),
    endpoint: given.endpoint,
    token: given.token,
    headers: given.headers,
    encoding: given.encoding,
    settleMs: Math.round(given.settleSeconds * 1_000),
    signals: signalNames.filter((signal) => signals.includes(signal)),
    options: {
      ...options,
      ...(instanceId !== undefined && { instanceId }),
      ...(project !== undefined && { project }),
      ...(steps !== undefined && { steps }),
    },
  }
}

/** The highest number of unknown keys that a message names. */
const MAX_UNKNOWN_KEYS = 5
const typeWords: Readonly<Record<string, string>> = { string: 'text', array: 'a list' }

/**
 * Returns a message such as `secretToken must have at least 8 characters`. It names keys and expectations, never values.
 */
function problemText(issue: z.core.$ZodIssue, source: unknown): string {
  const [key, ...rest] = issue.path
  const given = isObject(source) && key !== undefined ? Reflect.get(source, key) : source
  // A single value is read as a list with one item.
  const place = rest.length > 0 && Array.isArray(given) ? `${String(key)}[${rest.join('.')}]` : String(key ?? '')
  const words = given === undefined ? 'is missing' : wordsOf(issue)
  if (place === '') return words
  return /^(must|is) /.test(words) ? `${place} ${words}` : `${place}: ${words}`
}

function wordsOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'unrecognized_keys': {
      const keys = issue.keys.slice(0, MAX_UNKNOWN_KEYS).map((key) => JSON.stringify(key.slice(0, MAX_NAME_LENGTH)))
      return `unknown key ${keys.join(', ')}`
    }
    case 'invalid_type':
      return `must be ${typeWords[issue.expected] ?? 'an object'}`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    case 'too_small':
      return issue.origin === 'array' ? 'must have at least one item' : `must have at least ${issue.minimum} characters`
    case 'too_big':
      return `must have at most ${issue.maximum} ${issue.origin === 'array' ? 'items' : 'characters'}`
    default:
      return issue.message
  }
}

const SCOPE_PREFIX = 'source:'

/** Returns the scope of a source's pipelines, which separates them from those of all other sources and projects. */
export const sourceScope = ({ name }: Source): string => SCOPE_PREFIX + name

/**
 * Returns the source with this scope; undefined for other kinds of scopes, and for a
 * source that is no longer configured.
 */
export function findSource(sources: Sources, scope: string): Source | undefined {
  return scope.startsWith(SCOPE_PREFIX) ? sources.get(scope.slice(SCOPE_PREFIX.length)) : undefined
}

/** Returns the name of the source that a planned destination belongs to, if that source is not configured. */
export function findUnconfiguredSource(sources: Sources, destination: string): string | undefined {
  const name = destination.startsWith(SCOPE_PREFIX) ? destination.slice(SCOPE_PREFIX.length) : undefined
  return name === undefined || sources.has(name) ? undefined : name
}

/**
 * Returns the current destination of a source's telemetry, or the reason why there is none.
 * @param instance the destination of sources without an endpoint or encoding of their own
 */
export function sourceDestination(
  sources: Sources,
  scope: string,
  instance: Pick<Destination, 'url' | 'encoding' | 'headers'>,
): Destination | string {
  const source = findSource(sources, scope)
  if (source === undefined) return `the settings do not contain ${scope} any more`
  const { endpoint: url = instance.url, encoding = instance.encoding, token } = source
  // The headers of the installation are credentials of its endpoint, and of no other.
  const ofInstance = source.endpoint === undefined && token === undefined ? instance.headers : undefined
  return { url, encoding, token, headers: source.headers ?? ofInstance }
}
