/**
 * Three cores and four workers on one PostgreSQL server and one shared directory of repositories: 10,000 pipelines are exported
 * exactly once while processes are killed. Arguments: another seed, another number of pipelines.
 */
import { loadavg } from 'node:os'
import { clusterRun } from '../postgres/core-cluster/cluster-run.ts'
import { atMost, reportBounds } from './bounds.ts'
import { seededRandom } from './gateway/token-text.ts'

const [seed = 1, pipelines = 10_000] = process.argv.slice(2).map(Number)
const result = await clusterRun({ cores: 3, workers: 4, pipelines, random: seededRandom(seed), skipsWaits: false })
const { kills, faults } = result
for (const fault of faults) console.log(fault)
reportBounds(`3 cores and 4 workers, seed ${seed}, load average ${loadavg()[0]!.toFixed(2)}`, [
  { what: 'pipelines', measured: String(pipelines) },
  { what: 'time, including the leases of killed processes', measured: `${result.seconds.toFixed(0)} s` },
  { what: 'kills of cores, workers, PostgreSQL', measured: `${kills.core}, ${kills.worker}, ${kills.database}` },
  { what: 'answers of the cores', measured: JSON.stringify(result.answers) },
  { what: 'traces', measured: String(result.traces), bound: `= ${pipelines}`, isMet: result.traces === pipelines },
  {
    what: 'exported signals',
    measured: String(result.exports),
    bound: `= ${3 * pipelines}`,
    isMet: result.exports === 3 * pipelines,
  },
  { what: 'accepted again with the same ids, after a lost answer', measured: String(result.again) },
  { what: 'commits to one repository', measured: String(result.commits) },
  { what: 'logged errors', measured: JSON.stringify(result.loggedErrors) },
  atMost('faults', faults.length, 0, '', 0),
])
