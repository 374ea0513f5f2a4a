/** A job of a recipe, as it is planned. A `Fate` makes it deviate from this plan. */
export interface PlannedJob {
  readonly name: string
  readonly stage: string
  /** The approximate duration. A bridge has none: it lasts as long as the pipeline it starts. */
  readonly seconds?: number
  /** Set for a manual job. With `blocking`, the pipeline waits for it too. */
  readonly manual?: 'optional' | 'blocking'
  readonly when?: 'on_failure'
  readonly mayFail?: true
  readonly environment?: { readonly name: string; readonly tier: string }
  readonly artifact?: { readonly filename: string; readonly bytes: number }
  /** Whether the job runs on the bench runner instead of the pool. */
  readonly onBench?: true
  /** Set for a bridge: the recipe that it starts as a child, or in another project. */
  readonly starts?: { readonly recipe: string; readonly project?: string }
}

/** Returns parallel jobs: `name 1/3`, `name 2/3`, `name 3/3`. */
const parallel = (count: number, job: PlannedJob): PlannedJob[] =>
  Array.from({ length: count }, (_, index) => ({ ...job, name: `${job.name} ${index + 1}/${count}` }))

const staging = { name: 'staging', tier: 'staging' }
const production = { name: 'production', tier: 'production' }

const storefrontChecks: readonly PlannedJob[] = [
  { stage: 'check', name: 'lint', seconds: 34 },
  { stage: 'check', name: 'types', seconds: 51 },
  ...parallel(3, {
    stage: 'check',
    name: 'unit',
    seconds: 92,
    artifact: { filename: 'coverage.zip', bytes: 184_000 },
  }),
  { stage: 'build', name: 'bundle', seconds: 118, artifact: { filename: 'bundle.zip', bytes: 7_400_000 } },
  ...parallel(4, { stage: 'test', name: 'browser', seconds: 205 }),
]

const browserMatrix = ['large screen', 'tablet', 'phone'].flatMap((screen) =>
  parallel(64, { stage: 'browse', name: screen, seconds: 140 }),
)

const firmwareJobs: readonly PlannedJob[] = [
  ...['board a', 'board b', 'board c'].map(
    (board): PlannedJob => ({
      stage: 'compile',
      name: board,
      seconds: 76,
      artifact: { filename: 'firmware.zip', bytes: 410_000 },
    }),
  ),
  { stage: 'compile', name: 'static analysis', seconds: 143, mayFail: true },
  { stage: 'bench', name: 'open and close', seconds: 420, onBench: true },
  { stage: 'bench', name: 'power cut', seconds: 310, onBench: true },
  { stage: 'after', name: 'collect crash logs', seconds: 22, when: 'on_failure', onBench: true },
]

/** The recipes by the name that runs and bridges use. Stages are in the order of their first job. */
export const recipes: Readonly<Record<string, readonly PlannedJob[]>> = {
  'storefront change': [
    ...storefrontChecks,
    { stage: 'review', name: 'preview', seconds: 48, environment: { name: 'review/$REF', tier: 'development' } },
  ],
  storefront: [
    ...storefrontChecks,
    { stage: 'deploy', name: 'staging', seconds: 63, environment: staging },
    { stage: 'deploy', name: 'production', seconds: 71, manual: 'optional', environment: production },
  ],
  'storefront nightly': [
    { stage: 'build', name: 'bundle', seconds: 121, artifact: { filename: 'bundle.zip', bytes: 7_400_000 } },
    { stage: 'build', name: 'seed data', seconds: 44 },
    ...browserMatrix,
    { stage: 'report', name: 'merge results', seconds: 39, artifact: { filename: 'results.zip', bytes: 21_000_000 } },
    { stage: 'report', name: 'screenshots', seconds: 88, mayFail: true },
    { stage: 'report', name: 'accessibility', seconds: 132 },
    { stage: 'report', name: 'page weight', seconds: 27 },
    { stage: 'report', name: 'dead links', seconds: 64, mayFail: true },
    { stage: 'publish', name: 'publish report', seconds: 18 },
  ],
  checkout: [
    { stage: 'test', name: 'unit', seconds: 64 },
    { stage: 'test', name: 'contract', seconds: 97 },
    { stage: 'test', name: 'payments sandbox', seconds: 152, mayFail: true },
    { stage: 'package', name: 'image', seconds: 84 },
    { stage: 'deploy', name: 'staging', seconds: 41, environment: staging },
  ],
  'checkout release': [
    { stage: 'test', name: 'unit', seconds: 64 },
    { stage: 'test', name: 'contract', seconds: 97 },
    { stage: 'package', name: 'image', seconds: 84, artifact: { filename: 'manifest.json', bytes: 2_100 } },
    { stage: 'deploy', name: 'production', seconds: 58, environment: production },
  ],
  hub: [
    { stage: 'prepare', name: 'what has changed', seconds: 12 },
    { stage: 'parts', name: 'service', starts: { recipe: 'hub service' } },
    { stage: 'parts', name: 'simulator', starts: { recipe: 'hub simulator' } },
    { stage: 'publish', name: 'release notes', seconds: 16 },
  ],
  'hub service': [
    { stage: 'test', name: 'unit', seconds: 73 },
    { stage: 'test', name: 'integration', seconds: 168 },
    { stage: 'package', name: 'image', seconds: 66 },
  ],
  'hub simulator': [
    ...parallel(2, { stage: 'simulate', name: 'fifty lockers', seconds: 240 }),
    { stage: 'simulate', name: 'lost connection', seconds: 95 },
  ],
  firmware: firmwareJobs,
  'firmware release': [
    ...firmwareJobs,
    { stage: 'release', name: 'sign', seconds: 14, artifact: { filename: 'firmware-signed.zip', bytes: 1_260_000 } },
  ],
  'ci images': [
    { stage: 'build', name: 'base', seconds: 190 },
    { stage: 'derive', name: 'web', seconds: 96 },
    { stage: 'derive', name: 'firmware', seconds: 133 },
    { stage: 'scan', name: 'known faults', seconds: 58, artifact: { filename: 'findings.json', bytes: 38_000 } },
    { stage: 'hand on', name: 'roll out', starts: { recipe: 'roll out', project: 'mossgate/platform/sites' } },
  ],
  'roll out': [
    { stage: 'plan', name: 'plan', seconds: 47 },
    { stage: 'apply', name: 'apply', seconds: 112, environment: { name: 'runners', tier: 'other' } },
  ],
  sites: [
    { stage: 'plan', name: 'plan', seconds: 47, artifact: { filename: 'plan.json', bytes: 64_000 } },
    { stage: 'apply', name: 'apply', seconds: 155, manual: 'blocking', environment: production },
    { stage: 'verify', name: 'smoke', seconds: 31 },
  ],
  nothing: [],
}

/** The number of jobs of one pipeline that run concurrently. */
export const POOL_SIZE = 24
export const poolRunner = (slot: number) => ({
  id: 11 + (slot % 8),
  description: `pool-${String(1 + (slot % 8)).padStart(2, '0')}`,
  runner_type: 'instance_type',
  active: true,
  is_shared: true,
  tags: ['linux', 'containers'],
})
export const benchRunner = {
  id: 31,
  description: 'bench-door-1',
  runner_type: 'project_type',
  active: true,
  is_shared: false,
  tags: ['bench'],
}
