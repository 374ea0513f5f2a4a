/**
 * The options of the conversion. `optionTable` describes each one; validation, command-line flags and
 * `docs/reference/telemetry.md` are derived from it.
 */
export interface ConvertOptions {
  /** The `service.name` of all resources. Default: the project's name. */
  readonly resourceServiceName: string | undefined
  readonly environment: string
  readonly vendorNamespace: string
  readonly providerName: string
  /** The instance that hashed ids contain. `recordInstance` describes the default. */
  readonly instanceId: string | undefined
  /** The path of the project of records that do not name theirs. */
  readonly project: string | undefined
  readonly idScheme: 'hashed' | 'native'
  readonly spanNames: 'semconv' | 'native'
  readonly spanKind: 'semconv' | 'internal'
  readonly successStatus: 'ok' | 'unset'
  readonly canceledAsError: boolean
  readonly statusMessage: 'none' | 'reason'
  readonly refinedResults: boolean
  readonly metricsMode: 'per-run' | 'windowed' | 'cumulative'
  readonly bounds: 'native' | 'fine' | readonly number[]
  readonly runState: 'executing' | 'finalizing'
  readonly pendingPoint: boolean
  /** `all`, or a regular expression. On metrics, values of `pipeline.ref` that do not match it become `#other#`. */
  readonly refLabel: string
  readonly multiProject: 'link' | 'same-trace'
  readonly stageSpans: boolean
  readonly steps: boolean
  readonly extensions: boolean
  readonly extraAttributes: boolean
  readonly skipNeverRan: boolean
  readonly exportBlocked: boolean
  readonly exportUnknown: boolean
  readonly bridgeSource: 'auto' | 'hook' | 'rest' | 'none'
  readonly reexport: 'none' | 'replace' | 'link'
  readonly eventNames: boolean
  readonly user: 'include' | 'hash' | 'omit'
  readonly commitMessage: 'include' | 'title' | 'omit'
}

export type Profile = 'default' | 'native' | 'strict'

/** A subset of the options, and a profile that sets the rest. */
export type ConvertOptionsInput = { readonly [K in keyof ConvertOptions]?: ConvertOptions[K] | undefined } & {
  readonly profile?: Profile | undefined
}

type Shape =
  | { readonly kind: 'text'; readonly pattern?: RegExp }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'bounds' }
  | { readonly kind: 'pattern' }

export interface OptionRow<Value = unknown> {
  readonly shape: Shape
  readonly default: Value
  readonly about: string
}

const text = (about: string, fallback?: string): OptionRow<never> =>
  ({ shape: { kind: 'text' }, default: fallback, about }) as OptionRow<never>
const flag = (about: string, fallback = false): OptionRow<boolean> => ({
  shape: { kind: 'boolean' },
  default: fallback,
  about,
})
/** The first value is the default. */
const choice = <const V extends string>(values: readonly [V, ...V[]], about: string): OptionRow<V> => ({
  shape: { kind: 'choice', values },
  default: values[0],
  about,
})

/** A namespace is the first segment of attribute keys. */
const namespacePattern = /^[a-z][a-z0-9_]*$/

export const optionTable = {
  resourceServiceName: text('`service.name`; the project name when not set'),
  environment: text('`deployment.environment` and `deployment.environment.name`', 'production'),
  vendorNamespace: {
    shape: { kind: 'text', pattern: namespacePattern },
    default: 'svc',
    about: 'first segment of the keys that belong to the service',
  },
  providerName: text('`vcs.provider.name`', 'svc'),
  instanceId: text(
    'instance part of hashed ids; when not set, the host of the project’s URL, else of the pipeline’s, else the project’s id or path',
  ),
  project: text('path of the project, for payloads that do not name it, such as `owner/repository`'),
  idScheme: choice(['hashed', 'native'], 'trace and span ids: uniform hashes, or the forge’s own padded ids'),
  spanNames: choice(['semconv', 'native'], 'name of the pipeline span: `RUN {name}`, or `pipeline: {name or ref}`'),
  spanKind: choice(['semconv', 'internal'], 'kind of the pipeline span: SERVER, or INTERNAL'),
  successStatus: choice(['ok', 'unset'], 'span status of a success'),
  canceledAsError: flag('span status ERROR for canceled runs'),
  statusMessage: choice(['none', 'reason'], 'failure reason as span status message'),
  refinedResults: flag('results `timeout` and `error` by failure reason, beside `failure`'),
  metricsMode: choice(
    ['per-run', 'windowed', 'cumulative'],
    'metric streams: one series per pipeline, merged deltas, or running totals',
  ),
  bounds: {
    shape: { kind: 'bounds' },
    default: 'native',
    about: 'histogram bounds: `native`, `fine`, or a list of seconds',
  },
  runState: choice(['executing', 'finalizing'], '`cicd.pipeline.run.state` on metrics'),
  pendingPoint: flag('a second point of `cicd.pipeline.run.duration` with the state `pending`: the time in the queue'),
  refLabel: {
    shape: { kind: 'pattern' },
    default: 'all',
    about: '`all`, or a regular expression; on metrics, a ref that does not match becomes `#other#`',
  },
  multiProject: choice(
    ['link', 'same-trace'],
    'a pipeline started by another project: own trace with a link, or the same trace',
  ),
  stageSpans: flag('a span per stage between the pipeline and its jobs'),
  steps: flag('a span per step below its job, if the source lists the steps of jobs', true),
  extensions: flag('keys that only Penstock defines, such as `svc.cicd.timestamps.adjusted`', true),
  extraAttributes: flag('coverage, required runner tags, status of the ref and configuration errors as attributes'),
  skipNeverRan: flag('no span and no log record for jobs that never ran'),
  exportBlocked: flag('export pipelines that wait for a person (manual, scheduled)'),
  exportUnknown: flag('export finished pipelines of an unknown status'),
  bridgeSource: choice(
    ['auto', 'hook', 'rest', 'none'],
    'parent of a child pipeline’s span: the bridge if records list bridges (`auto`), always the bridge, or the parent pipeline (`none`)',
  ),
  reexport: choice(
    ['none', 'replace', 'link'],
    'a later completion after a retry: not sent, same span again, or its own linked span',
  ),
  eventNames: flag('event names on log records'),
  user: choice(['include', 'hash', 'omit'], 'user ids and names'),
  commitMessage: choice(['include', 'title', 'omit'], 'commit messages'),
} satisfies { readonly [K in keyof ConvertOptions]: OptionRow<ConvertOptions[K]> }

/** Groups of options: `native` reproduces GitLab's own export, `strict` follows semconv exactly. */
export const profiles = {
  default: {},
  native: {
    idScheme: 'native',
    spanNames: 'native',
    spanKind: 'internal',
    canceledAsError: true,
    statusMessage: 'reason',
    runState: 'finalizing',
    extensions: false,
  },
  strict: { successStatus: 'unset', refinedResults: true },
} as const satisfies Record<Profile, ConvertOptionsInput>

/** The error for an unknown option or an invalid value. `option` is the key of `ConvertOptions`. */
export class OptionError extends Error {
  override readonly name = 'OptionError'
  readonly option: string
  constructor(option: string, reason: string) {
    super(`option ${option}: ${reason}`)
    this.option = option
  }
}

/**
 * Returns the defaults, overridden by the profile and then by the given options.
 *
 * @throws {OptionError} for an unknown name or a value out of range
 */
export function resolveOptions(input: ConvertOptionsInput = {}): ConvertOptions {
  const { profile = 'default', ...given } = input
  if (!Object.hasOwn(profiles, profile))
    throw new OptionError('profile', `must be one of ${Object.keys(profiles).join(', ')}`)
  const resolved: Record<string, unknown> = Object.fromEntries(
    Object.entries(optionTable).map(([name, row]) => [name, row.default]),
  )
  for (const [name, value] of [...Object.entries(profiles[profile]), ...Object.entries(given)]) {
    const row = Object.hasOwn(optionTable, name) ? (optionTable as Record<string, OptionRow>)[name] : undefined
    if (row === undefined) throw new OptionError(name, 'no such option')
    if (value === undefined) continue
    const problem = validateValue(row.shape, value)
    if (problem) throw new OptionError(name, problem)
    resolved[name] = value
  }
  // The loop has checked each value against the table from which the type is derived.
  return resolved as unknown as ConvertOptions
}

function validateValue(shape: Shape, value: unknown): string | undefined {
  switch (shape.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'choice':
      return shape.values.includes(value as string) ? undefined : `must be one of ${shape.values.join(', ')}`
    case 'text':
      if (typeof value !== 'string' || value.trim() === '') return 'must be a text that is not blank'
      return shape.pattern && !shape.pattern.test(value) ? `must match ${shape.pattern.source}` : undefined
    case 'bounds':
      return isBounds(value) ? undefined : 'must be native, fine or up to 200 ascending numbers above 0'
    case 'pattern':
      return typeof value === 'string' && isPattern(value) ? undefined : 'must be all or a regular expression'
  }
}

function isBounds(value: unknown): boolean {
  if (value === 'native' || value === 'fine') return true
  if (!Array.isArray(value) || value.length === 0 || value.length > 200) return false
  return value.every((bound, i) => Number.isFinite(bound) && bound > (i === 0 ? 0 : value[i - 1]))
}

function isPattern(source: string): boolean {
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    return false
  }
}
