import { readFileSync } from 'node:fs'

/** The unit of process times in Linux (USER_HZ), which is 100 on every architecture of Node. */
const ticksPerSecond = 100

/**
 * Returns the user and system time of a running process, for all threads, in steps of 10 ms. Linux only.
 *
 * @see proc_pid_stat(5): utime is field 14 and stime 15; field 2, the command, may contain spaces and brackets
 */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fieldsFromThird = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fieldsFromThird[11]) + Number(fieldsFromThird[12])) / ticksPerSecond
}
