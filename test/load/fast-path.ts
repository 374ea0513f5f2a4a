/**
 * Compares how the fast path of the gateway and llhttp read mutated streams of requests. Arguments: another seed, another number
 * of streams.
 */
import { loadavg } from 'node:os'
import { compareReaders } from '../contract/fast-path/compare-readers.ts'
import { MutatedStreams } from '../contract/fast-path/mutated-streams.ts'
import { atMost, reportBounds } from './bounds.ts'
import { seededRandom } from './gateway/token-text.ts'

const DIVISIONS = 2
const EVERY_PLACE_OF = 1_000
const PART = 500_000

const [seed = 1, streams = 10_000_000] = process.argv.slice(2).map(Number)
const mutated = new MutatedStreams(seededRandom(seed))
const total = { streams: 0, divisions: 0, fastRequests: 0, passedOn: 0, broken: 0 }
const faults: string[] = []
const startMs = performance.now()
while (total.streams < streams && faults.length === 0) {
  const part = compareReaders(mutated, {
    streams: Math.min(PART, streams - total.streams),
    divisions: DIVISIONS,
    everyPlaceOf: EVERY_PLACE_OF,
  })
  for (const name of Object.keys(total) as (keyof typeof total)[]) total[name] += part[name]
  faults.push(...part.faults)
  console.log(`${total.streams} streams after ${((performance.now() - startMs) / 1_000).toFixed(0)} s`)
}
for (const fault of faults) console.log(fault)
reportBounds(`The fast path and llhttp of Node ${process.version}, seed ${seed}, load ${loadavg()[0]!.toFixed(2)}`, [
  { what: 'streams', measured: String(total.streams) },
  { what: 'ways of dividing them into pieces', measured: String(total.divisions) },
  { what: 'requests that the fast path has read', measured: String(total.fastRequests) },
  { what: 'readings that were left to node:http, in part or in whole', measured: String(total.passedOn) },
  { what: 'streams in which llhttp finds an error', measured: String(total.broken) },
  atMost('differences', faults.length, 0, '', 0),
])
