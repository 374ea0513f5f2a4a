/** Sends 100,000 records at 500 per second while the upstream is down, and restarts the service in between. */
import { loadavg } from 'node:os'
import { outage, type Phase } from '../export/outage.ts'
import { atMost, reportBounds } from './bounds.ts'
import { startSink } from './export/sink-process.ts'
import { printTable } from './measure.ts'

const PER_SECOND = 500
const BEFORE = 10_000
const MOST_TIMES_UP = 1.5
const LEAST_OF_SHORT_DRAIN = 0.8
const MOST_MIB = 512

const [during = 100_000] = process.argv.slice(2).map(Number)
const result = await outage({ perSecond: PER_SECOND, before: BEFORE, during, startSink })
const { up, down, drains, drainResidentMiB, faults } = result
const [short, long] = drains as [(typeof drains)[number], (typeof drains)[number]]
const row = (name: string, { p99Ms, perSecond, residentMiB }: Phase) => [
  name,
  perSecond.toFixed(0),
  p99Ms.put.toFixed(1),
  p99Ms.hook.toFixed(1),
  residentMiB.toFixed(0),
]
console.log(`load average ${loadavg()[0]!.toFixed(2)}`)
printTable([
  ['', 'records/s', 'p99 ms of PUTs', 'of hooks', 'resident MiB'],
  row('upstream up', up),
  row('down', down[0]),
  row('down, after the restart', down[1]),
])
for (const { records, waitedSeconds, perSecond } of drains) {
  console.log(
    `upstream back after ${records} records: first export after ${waitedSeconds.toFixed(1)} s, then ${perSecond.toFixed(0)} records/s`,
  )
}
reportBounds('An outage', [
  ...(['put', 'hook'] as const).flatMap((way) =>
    down.map((phase, index) =>
      atMost(
        `p99 of ${way === 'put' ? 'PUTs' : 'hooks'}${index === 0 ? '' : ' after the restart'}`,
        phase.p99Ms[way] / up.p99Ms[way],
        MOST_TIMES_UP,
        'times that with upstream up',
        2,
      ),
    ),
  ),
  atMost(
    'resident memory, all the time',
    Math.max(drainResidentMiB, ...down.map((one) => one.residentMiB)),
    MOST_MIB,
    'MiB',
    0,
  ),
  {
    what: 'drains at the rate of a short outage',
    measured: `${(long.perSecond / short.perSecond).toFixed(2)} times`,
    bound: `≥ ${LEAST_OF_SHORT_DRAIN} times`,
    isMet: long.perSecond >= LEAST_OF_SHORT_DRAIN * short.perSecond,
  },
  { what: 'lost, or accepted twice', measured: faults.join('; ') || 'none', bound: 'none', isMet: faults.length === 0 },
])
