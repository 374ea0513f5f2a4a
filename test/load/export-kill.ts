/**
 * Sends 500 records per second while the upstream alternates between up and down, and kills the exporting service 200 times.
 * Arguments: another seed, another number of kills.
 */
import { loadavg } from 'node:os'
import { killRuns } from '../export/kill-runs.ts'

const PER_SECOND = 500
const MOST_PER_LIFE = 1_200
const LOOK_EVERY = 20

const [seed = 1, kills = 200] = process.argv.slice(2).map(Number)
const result = await killRuns({
  kills,
  seed,
  perSecond: PER_SECOND,
  maxPerLife: MOST_PER_LIFE,
  skipsWaits: false,
  checkEvery: LOOK_EVERY,
})
const { extras, faults, lostAnswers, requests } = result
for (const { life, signal, cause, ids } of extras) {
  console.log(`accepted again      life ${life}, ${cause}, ${signal}: ${ids.join(' ')}`)
}
const twice = extras.reduce((sum, { ids }) => sum + ids.length, 0)
console.log(`kills               ${result.kills}, seed ${seed}, load average ${loadavg()[0]!.toFixed(2)}`)
console.log(
  `acknowledged        ${result.acknowledged} records, ${result.perSecond.toFixed(0)} a second between the kills`,
)
console.log(
  `not acknowledged    ${result.unanswered} unanswered, ${result.tooBusy} answered with a retry delay; sent again`,
)
console.log(`upstream            ${JSON.stringify(requests)}`)
console.log(`accepted            ${result.accepted} exports, of which ${twice} again, in ${extras.length} lots`)
console.log(`answers lost        ${JSON.stringify(lostAnswers)}`)
console.log(`slowest start       ${result.slowestStartMs.toFixed(0)} ms`)
console.log(`drained after       ${result.drainSeconds.toFixed(0)} s`)
console.log(
  faults.length === 0
    ? 'none lost, none twice without a lost answer, nothing by inconsistencyQueries'
    : faults.join('\n'),
)
process.exitCode = faults.length === 0 ? 0 : 1
