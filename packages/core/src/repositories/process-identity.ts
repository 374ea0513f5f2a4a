import { readFileSync, readlinkSync } from 'node:fs'

/**
 * This process, told apart from every other of this and other machines and containers, later ones of the same number
 * included. '' where the system does not say (it does on Linux).
 */
export const thisProcess: string = identityOf('self') ?? ''

/**
 * Whether the process that called itself so is known to have ended. Only of one that had its number from where we have
 * ours: numbers of other machines and containers mean other processes here.
 */
export function hasEnded(identity: string): boolean {
  const [space, pid] = partsOf(identity)
  if (pid === undefined || space !== partsOf(thisProcess)[0]) return false
  return identityOf(pid) !== identity
}

/** `boot/namespace`, `pid` */
const partsOf = (identity: string) => identity.split(' ')

/** `<boot id>/<namespace of process numbers> <pid> <clock ticks from boot to its start>`. @see proc(5) */
function identityOf(process: string): string | undefined {
  try {
    const stat = readFileSync(`/proc/${process}/stat`, 'utf8')
    const pid = stat.slice(0, stat.indexOf(' '))
    // The second field is in parentheses and may hold anything; the start is the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z') return undefined
    const started = fields[19]
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}/${readlinkSync('/proc/self/ns/pid')} ${pid} ${started}`
  } catch {
    return undefined
  }
}
