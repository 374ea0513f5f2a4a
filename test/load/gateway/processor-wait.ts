import { readFileSync } from 'node:fs'

/**
 * For how long a process' main thread could have run so far and was not let, because others had the processors: of a
 * measurement on a machine that was not its own, this much is not the subject's. Linux only.
 *
 * @see Documentation/scheduler/sched-stats.rst of Linux: the second field, in nanoseconds
 */
export function processorWaitSeconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e9
}
