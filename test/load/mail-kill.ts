/**
 * Creates 50 issues per second in a project with two watchers, and kills the service 100 times while it sends the mails.
 * Arguments: another seed, another number of kills.
 */
import { loadavg } from 'node:os'
import { mailKillRuns } from '../export/mail-kill-runs.ts'

const [seed = 1, kills = 100] = process.argv.slice(2).map(Number)
const result = await mailKillRuns({ kills, seed, perSecond: 50, maxPerLife: 100 })
console.log(`kills         ${kills}, seed ${seed}, load average ${loadavg()[0]!.toFixed(2)}`)
console.log(`acknowledged  ${result.acknowledged} issues with two watchers`)
console.log(`received      ${result.received} mails, ${result.twice.length} of them a second time:`)
for (const mail of result.twice) console.log(`  ${mail}`)
console.log(result.faults.length === 0 ? 'none lost, and none sent twice without a kill' : result.faults.join('\n'))
process.exitCode = result.faults.length === 0 ? 0 : 1
