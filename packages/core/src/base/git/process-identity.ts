import { readFileSync, readlinkSync } from 'node:fs'

/**
 * A text that identifies this process among all processes of this and other machines and containers, including later
 * ones with the same process id. Empty on systems other than Linux.
 */
export const thisProcess: string = identityOf('self') ?? ''

/**
 * Returns whether the process with this identity is known to have ended. This is known only for processes of the same
 * process id namespace, because process ids of another machine or container represent different processes here.
 */
export function hasEnded(identity: string): boolean {
  const [space, pid] = partsOf(identity)
  if (pid === undefined || space !== partsOf(thisProcess)[0]) return false
  return identityOf(pid) !== identity
}

/** Returns the parts of an identity: `<boot id>/<process id namespace>`, `<pid>` and `<clock ticks>`. */
const partsOf = (identity: string) => identity.split(' ')

/** Returns `<boot id>/<process id namespace> <pid> <clock ticks from boot to its start>`. @see proc(5) */
function identityOf(process: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8')
    const pid = stat.slice(0, stat.indexOf(' '))
    // The second field is in parentheses and may contain any characters; the start time is the 22nd field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z') return undefined
    const started = fields[19]
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}/${readlinkSync('/proc/self/ns/pid')} ${pid} ${started}`
  } catch {
    return undefined
  }
}
