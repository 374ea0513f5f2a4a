/**
 * Compares how the gateway and nghttp2 read mutated HTTP/2 sessions. Arguments: another seed, another number of streams.
 */
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'
import { atMost, type Bound, reportBounds } from './bounds.ts'
import { seededRandom } from './gateway/token-text.ts'

/** The comparison is a part of the tests of the gateway, so it is loaded from its source. */
const folder = new URL('../../../../packages/gateway/src/http2/', import.meta.url)

interface Comparison {
  readonly sessions: number
  readonly streams: number
  readonly mutated: number
  readonly complete: number
  readonly stricter: ReadonlyMap<string, number>
  readonly looser: ReadonlyMap<string, number>
  readonly examples: ReadonlyMap<string, string>
  readonly faults: readonly string[]
}

interface Comparing {
  compareSessions(mutated: object, streams: number, result: Comparison): Promise<Comparison>
  newComparison(): Comparison
}

interface Mutating {
  readonly MutatedSessions: new (random: () => number) => object
}

async function load<Module>(file: string): Promise<Module> {
  const { module } = await runnerImport<Module>(fileURLToPath(new URL(file, folder)), { configFile: false })
  return module
}

const PART = 25_000
const MAX_EXAMPLE = 2_000
const MAX_HEAP_MIB = 256

const [seed = 1, streams = 1_000_000] = process.argv.slice(2).map(Number)
const { compareSessions, newComparison } = await load<Comparing>('compare-sessions.harness.ts')
const { MutatedSessions } = await load<Mutating>('mutated-sessions.harness.ts')
const mutated = new MutatedSessions(seededRandom(seed))
const result = newComparison()
let heapMib = 0
const startMs = performance.now()
while (result.streams < streams && result.faults.length === 0) {
  await compareSessions(mutated, Math.min(PART, streams - result.streams), result)
  heapMib = Math.max(heapMib, process.memoryUsage().heapUsed / 2 ** 20)
  console.log(`${result.streams} streams after ${((performance.now() - startMs) / 1_000).toFixed(0)} s`)
}
for (const fault of result.faults) console.log(fault.slice(0, MAX_EXAMPLE))

const byCause = (what: string, counts: ReadonlyMap<string, number>): Bound[] =>
  [...counts].sort().map(([cause, count]) => ({ what: `${what}: ${cause}`, measured: String(count) }))
reportBounds(`The gateway and nghttp2 of Node ${process.version}, seed ${seed}, load ${loadavg()[0]!.toFixed(2)}`, [
  { what: 'sessions', measured: String(result.sessions) },
  { what: 'sessions that were mutated', measured: String(result.mutated) },
  { what: 'streams', measured: String(result.streams) },
  { what: 'requests that both have received completely', measured: String(result.complete) },
  ...byCause('refused by the gateway only', result.stricter),
  ...byCause('refused by nghttp2 only', result.looser),
  atMost('differences without a known cause', result.faults.length, 0, '', 0),
  atMost('largest heap', heapMib, MAX_HEAP_MIB, 'MiB', 0),
])
