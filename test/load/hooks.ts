/**
 * Creates 100 issues per second in 1,000 projects with one webhook each, of which one in ten is dead or slow, and exports
 * pipelines with and without that load: `npm run bench:hooks`. Arguments: another number of hooks, other seconds.
 */
import { loadavg } from 'node:os'
import { atMost, reportBounds } from './bounds.ts'
import { printTable } from './measure.ts'
import { HookWorld, kinds } from './webhooks/hook-world.ts'
import { percentile } from './webhooks/percentile.ts'

const PER_SECOND = 100
const [hooks = 1_000, seconds = 60] = process.argv.slice(2).map(Number)
/** More than the failures after which a hook is paused. */
const SETTLING_EVENTS = 6
const PIPELINES_PER_SECOND = 5
const MAX_P99_MS = 2_000
const MAX_GROWTH_MB = 200
const LEAST_OF_EXPORT = 0.9

/** The time in which the export alone is measured. */
const ALONE_SECONDS = 20

const startedMs = performance.now()
const phase = (name: string) => {
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)
  console.log(`${seconds} s  load average ${loadavg()[0]!.toFixed(2)}  ${name}`)
}

phase(`creating ${hooks} projects with a webhook each`)
await using world = await HookWorld.start(hooks)
phase('exporting pipelines alone')
const alone = await world.exportPipelines(PIPELINES_PER_SECOND, ALONE_SECONDS)
// The hooks that fail are called until they are paused.
phase('calling the failing webhooks until they are paused')
const bad = world.projects.filter(({ kind }) => kind !== 'healthy')
await world.createIssues(Array(SETTLING_EVENTS).fill(bad).flat(), PER_SECOND)
const unpaused = await world.untilPaused()
phase('measuring')
const beforeMb = world.memoryMb()
const measured = world.arrivalsFromNow()
const [beganMs, cpuBefore] = [performance.now(), world.cpuSeconds()]
const [beside, unmade] = await Promise.all([
  world.exportPipelines(PIPELINES_PER_SECOND, seconds),
  world.createIssues(world.shuffled(PER_SECOND * seconds), PER_SECOND),
])
const [cpu, wallSeconds] = [world.cpuSeconds() - cpuBefore, (performance.now() - beganMs) / 1_000]
phase('waiting for arrivals')
await world.untilArrived(measured)
phase('ended')
const times = measured.times.toSorted((one, other) => one - other)

console.log(`\n${hooks} webhooks, ${PER_SECOND} events a second for ${seconds} s`)
printTable([
  ['receivers', 'webhooks', 'paused at the end'],
  ...(await Promise.all(
    kinds.map(async (kind) => [kind, String(world.countOf(kind)), String(await world.pausedOf(kind))]),
  )),
])
const changes = measured.changes.toSorted((one, other) => one - other)
printTable([
  ['ms from the request of the change', 'to its response', 'to a healthy receiver'],
  ...[0.5, 0.9, 0.99, 1].map((share) => [
    `p${share * 100}`,
    percentile(changes, share).toFixed(0),
    percentile(times, share).toFixed(0),
  ]),
])
console.log(`CPU of the service: ${((100 * cpu) / wallSeconds).toFixed(0)} % of a core`)
printTable([
  ['export of pipelines', 'offered/s', 'accepted/s'],
  ['alone', String(PIPELINES_PER_SECOND), alone.toFixed(2)],
  ['beside the webhooks', String(PIPELINES_PER_SECOND), beside.toFixed(2)],
])
reportBounds('Webhooks under load', [
  atMost('p99 to a healthy receiver', percentile(times, 0.99), MAX_P99_MS, 'ms', 0),
  atMost('failing webhooks that were not paused', unpaused, 0, '', 0),
  atMost('changes that the service did not make', unmade, 0, '', 0),
  atMost('changes without an arrival', measured.missing(), 0, '', 0),
  atMost('growth of the memory', world.memoryMb() - beforeMb, MAX_GROWTH_MB, 'MB', 0),
  {
    what: 'export beside the webhooks, of that alone',
    measured: (beside / alone).toFixed(2),
    bound: `≥ ${LEAST_OF_EXPORT.toFixed(2)}`,
    isMet: beside / alone >= LEAST_OF_EXPORT,
  },
])
