/** Kills the core a hundred times during writes, and restarts it on the same data. The argument is another seed. */
import { crashRuns } from '../core/crash-runs.ts'

const seed = Number(process.argv[2] ?? 1)
const { kills, acknowledged, unanswered, unansweredStored, slowestStartMs, faults } = await crashRuns({
  runs: 100,
  seed,
})
console.log(`kills               ${kills}, seed ${seed}`)
console.log(`acknowledged        ${acknowledged} writes`)
console.log(`unanswered          ${unanswered}, of which ${unansweredStored} were stored`)
console.log(`slowest start       ${slowestStartMs.toFixed(0)} ms`)
console.log(faults.length === 0 ? 'all there, nothing by halves' : faults.join('\n'))
process.exitCode = faults.length === 0 ? 0 : 1
