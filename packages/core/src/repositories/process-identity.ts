import { readFileSync } from 'node:fs'

/** A process of this machine, told apart from a later one with the same number where the system lets us (Linux). */
export interface ProcessIdentity {
  readonly pid: number
  /** Boot and clock ticks from it to the start of the process; '' where the system does not say. */
  readonly started: string
}

export const thisProcess: ProcessIdentity = { pid: process.pid, started: startOf(process.pid) }

export function isAlive({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: there is one, of another user.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const now = startOf(pid)
  return started === '' || now === '' || started === now
}

/** @see proc(5): field 22 of /proc/pid/stat; the second one is in parentheses and may hold anything */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[19]}`
  } catch {
    return ''
  }
}
