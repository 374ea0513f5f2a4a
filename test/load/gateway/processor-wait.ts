import { readFileSync } from 'node:fs'

/**
 * Returns how long the main thread of a process was ready to run but waited for a processor. On a shared machine, this time
 * must be subtracted from a measurement. Linux only.
 *
 * @see Documentation/scheduler/sched-stats.rst of Linux: the second field, in nanoseconds
 */
export function processorWaitSeconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e9
}
