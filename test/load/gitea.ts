/**
 * Runs real workflows on a real Gitea, and compares what a service that is killed in between exports with what the server and the runner
 * say. Arguments: the seconds of a step; `record`, to write the hooks and answers as fixtures.
 */
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { faultsIn } from '../gitea/compare.harness.ts'
import { playEndToEnd } from '../gitea/end-to-end.harness.ts'
import { writeRecording } from '../gitea/recording.ts'

const [seconds = '1.1', isRecorded] = process.argv.slice(2)
const played = await playEndToEnd(Number(seconds) * 1_000)
const faults = faultsIn(played)
if (isRecorded === 'record') writeRecording(fileURLToPath(new URL('../../../../fixtures', import.meta.url)), played)
const spans = Object.values(played.spans).map((each) => each.length)
console.log(`hooks     ${played.hooks.length}, load average ${loadavg()[0]!.toFixed(2)}`)
console.log(`kills     ${played.kills}, between the hooks of a run and of jobs`)
console.log(`exported  ${spans.join(' + ')} spans of ${played.attempts.length} attempts, for each kind of webhooks`)
console.log(faults.length === 0 ? 'none lost, none sent twice' : faults.join('\n'))
process.exitCode = faults.length === 0 ? 0 : 1
