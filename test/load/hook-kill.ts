/**
 * Creates 100 issues per second in a project with two webhooks, and kills the service 200 times.
 * Arguments: another seed, another number of kills.
 */
import { loadavg } from 'node:os'
import { hookKillRuns } from '../export/hook-kill-runs.ts'

const [seed = 1, kills = 200] = process.argv.slice(2).map(Number)
const LIVES_PER_LINE = 20
const result = await hookKillRuns({
  kills,
  seed,
  perSecond: 100,
  maxPerLife: 100,
  onStarted: ({ life, tookMs }) => {
    if (life % LIVES_PER_LINE !== 0) return
    console.log(`${new Date().toISOString()}  ${life} kills, the last start took ${(tookMs / 1_000).toFixed(1)} s`)
  },
})
console.log(`kills               ${kills}, seed ${seed}, load average ${loadavg()[0]!.toFixed(2)}`)
console.log(
  `acknowledged        ${result.acknowledged} issues, ${result.perSecond.toFixed(0)} a second between the kills`,
)
console.log(`longest start       ${(result.longestStartMs / 1_000).toFixed(1)} s`)
console.log(`received            ${result.received} requests of two webhooks`)
console.log(`unknown in the log  ${result.unknown}, of which ${result.unknownArrived} had arrived`)
console.log(result.faults.length === 0 ? 'none lost, none sent twice' : result.faults.join('\n'))
process.exitCode = result.faults.length === 0 ? 0 : 1
