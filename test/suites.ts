import { availableParallelism } from 'node:os'

/** A project of vitest: test files that run under the same conditions. The scripts of package.json name the suites that they run. */
export type Suite = 'unit' | 'areas' | 'integration' | 'tools' | 'alone'

/** The suite of each test file, with the reason. A file belongs to the row with the longest path that its own begins with. */
export const suiteOfPath: readonly (readonly [path: string, suite: Suite, reason: string])[] = [
  ['packages/', 'unit', 'one package, without other programs'],
  ['packages/gateway/src/http2/fuzzing.test.ts', 'alone', 'searches for faults for a minute'],
  ['packages/markup/src/slow-texts.test.ts', 'alone', 'holds hostile texts to their time'],
  ['packages/core/', 'areas', 'its tests store data in a `World`, on either database'],
  ['packages/rest/', 'areas', 'its tests store data in a `World`, on either database'],
  ['packages/webhooks/', 'areas', 'its tests store data in a `World`, on either database'],
  ['packages/graphql/', 'areas', 'its tests store data in a `World`, on either database'],

  ['test/', 'integration', 'several packages together, with Node only'],
  ['test/backends/', 'tools', 'Jaeger, Prometheus, VictoriaLogs and the collector'],
  ['test/backends/gateway-dashboard.test.ts', 'alone', 'compares rates with the time that passes'],
  ['test/browser/', 'tools', 'Chromium'],
  ['test/cli/backfill-github-many.test.ts', 'tools', 'reads 10,000 runs'],
  ['test/cli/restore-kills.test.ts', 'tools', 'starts and kills 40 processes'],
  ['test/cli/sample-workspace.test.ts', 'tools', 'curl; starts the whole service seven times'],
  ['test/cli/trace-context-recipe.test.ts', 'tools', 'several shells'],
  ['test/clickhouse/', 'tools', 'Python, for the engine of ClickHouse; the collector'],
  ['test/collector/', 'tools', 'the collector'],
  ['test/contract/collector-configs.test.ts', 'tools', 'the collector'],
  ['test/contract/collector-roundtrip.test.ts', 'tools', 'the collector'],
  ['test/contract/core/backfill.test.ts', 'tools', 'several processes for 10 seconds'],
  ['test/contract/core/client-go/', 'tools', 'Go'],
  ['test/contract/core/python-gitlab.test.ts', 'tools', 'Python'],
  ['test/contract/cumulative.test.ts', 'tools', 'the collector'],
  ['test/contract/delta-to-cumulative.test.ts', 'tools', 'the collector'],
  ['test/contract/failure.test.ts', 'tools', 'the collector'],
  ['test/contract/forward-auth-nginx.test.ts', 'tools', 'nginx'],
  ['test/contract/forge-types.test.ts', 'tools', 'Go'],
  ['test/contract/gateway-grpc.test.ts', 'tools', 'the collector'],
  ['test/contract/github-receiver/', 'tools', 'the collector'],
  ['test/contract/gitlab-receiver.test.ts', 'tools', 'the collector'],
  ['test/contract/hooks/client-go.test.ts', 'tools', 'Go'],
  ['test/contract/hooks/gitlab-receiver.test.ts', 'tools', 'the collector'],
  ['test/contract/hooks/signatures.test.ts', 'tools', 'Python and Go'],
  ['test/contract/rollout.test.ts', 'tools', 'nginx and curl'],
  ['test/contract/sdk-views.test.ts', 'tools', 'the collector'],
  ['test/core/area-pages.test.ts', 'tools', 'curl'],
  ['test/core/crash.test.ts', 'tools', 'kills processes for 40 seconds'],
  ['test/core/disk-full.test.ts', 'tools', 'a file system of its own, which only root may mount'],
  ['test/core/many-writers.test.ts', 'tools', 'several processes that write to one database'],
  ['test/core/silent-sockets.test.ts', 'alone', 'holds connections to the time that they have'],
  ['test/core/snippet-kills.test.ts', 'tools', 'kills processes for a minute, and writes to two of them'],
  ['test/core/wiki-kills.test.ts', 'tools', 'kills processes for a minute, and writes to two of them'],
  ['test/core/tour.test.ts', 'tools', 'curl'],
  ['test/export/', 'tools', 'kills, and many processes'],
  ['test/export/outage.test.ts', 'alone', 'holds exports to their time'],
  ['test/gateway/', 'alone', 'holds clients to the time that they take, or fills the machine with processes'],
  ['test/gateway/upstream-slow.test.ts', 'tools', 'waits for half a minute'],
  ['test/gitea/live.test.ts', 'tools', 'Gitea, git, and a service that is killed'],
  ['test/guides/', 'tools', 'compiles whole packages'],
  ['test/interop/', 'alone', 'the collector, Go and Python; holds their retries to their time'],
  ['test/packaging/', 'tools', 'npm and a C++ compiler, mmdebstrap, umoci, crun, systemd and Helm'],
  ['test/postgres/', 'tools', 'PostgreSQL'],
]

/**
 * The paths of the tests that `npm run test:postgres` runs on PostgreSQL. The other commands run the same tests on SQLite.
 * The tests in test/postgres are not among them, because they start a PostgreSQL server themselves.
 */
export const onPostgres: readonly string[] = [
  'packages/core/',
  'packages/rest/',
  'packages/graphql/',
  'packages/webhooks/',
  'packages/mail/',
  'packages/gateway/src/accounts/',
  'packages/gateway/src/admin/',
  'packages/gateway/src/enforcement/enforcement-operations.test.ts',
  'packages/gateway/src/enforcement/expiry-watch.test.ts',
  'packages/gateway/src/processes/',
  'packages/gateway/src/secrets/open-peppers.test.ts',
  'packages/gateway/src/store/',
  'packages/gateway/src/tokens/',
  'test/contract/core/',
  'test/contract/ingest-auth-idempotency.test.ts',
  'test/contract/ingest-auth-state.test.ts',
  'test/contract/ingest-auth-tokens.test.ts',
  'test/contract/sessions.test.ts',
  'test/core/access-matrix.test.ts',
  'test/core/crash.test.ts',
  'test/core/many-writers.test.ts',
  'test/core/settings-in-force.test.ts',
  'test/core/snippet-kills.test.ts',
  'test/core/wiki-kills.test.ts',
  'test/export/core-exports.test.ts',
  'test/export/roles.test.ts',
  'test/export/trace-ownership.test.ts',
]

/** As many as vitest takes by itself, but at least two, because a test waits as much as it computes. */
const sideBySide = Math.max(2, availableParallelism() - 1)

interface Conditions {
  readonly maxWorkers: number
  readonly isolate: boolean
  /** Suites with other numbers of workers are in other groups, which run one after the other. */
  readonly sequence?: { readonly groupOrder: number }
}

/** How the files of each suite run. */
const conditions: Readonly<Record<Suite, Conditions>> = {
  // Files share a process and its modules: reading the modules again for each file took half of the time.
  unit: { maxWorkers: sideBySide, isolate: false },
  areas: { maxWorkers: sideBySide, isolate: false },
  integration: { maxWorkers: sideBySide, isolate: false },
  // They wait for other programs more than they compute.
  tools: { maxWorkers: sideBySide + 1, isolate: true, sequence: { groupOrder: 1 } },
  alone: { maxWorkers: 1, isolate: true, sequence: { groupOrder: 2 } },
}

export interface SuiteProject {
  readonly extends: true
  readonly test: Conditions & {
    readonly name: Suite
    readonly include: string[]
    readonly exclude: string[]
  }
}

/** Returns the projects of vitest for all test files, or only for those below some paths. */
export function suiteProjects(only?: readonly string[]): SuiteProject[] {
  const suites = Object.keys(conditions) as Suite[]
  return suites
    .map((name): SuiteProject => ({ extends: true, test: { name, ...filesOf(name, only), ...conditions[name] } }))
    .filter(({ test }) => test.include.length > 0)
}

function filesOf(suite: Suite, only?: readonly string[]): { include: string[]; exclude: string[] } {
  const own = suiteOfPath.filter(([, each]) => each === suite).map(([path]) => path)
  const others = suiteOfPath.filter(([, each]) => each !== suite).map(([path]) => path)
  const paths = only === undefined ? own : within(suite, own, only)
  const isNested = (path: string) => paths.some((outer) => path !== outer && path.startsWith(outer))
  return {
    include: paths.map(patternOf),
    exclude: ['**/node_modules/**', '**/dist/**', ...others.filter(isNested).map(patternOf)],
  }
}

/** Returns the paths of a suite that are within some limits: limits that belong to the suite, and its own paths below a limit. */
function within(suite: Suite, own: readonly string[], limits: readonly string[]): string[] {
  const nested = own.filter((path) => limits.some((limit) => path.startsWith(limit)))
  return [...new Set([...limits.filter((limit) => suiteOf(limit) === suite), ...nested])]
}

function suiteOf(file: string): Suite | undefined {
  const rows = suiteOfPath.filter(([path]) => file.startsWith(path))
  return rows.toSorted(([a], [b]) => b.length - a.length)[0]?.[1]
}

const patternOf = (path: string): string => (path.endsWith('/') ? `${path}**/*.test.ts` : path)
