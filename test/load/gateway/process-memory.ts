import { readFileSync } from 'node:fs'

export interface ProcessMemory {
  readonly residentMiB: number
  /** The maximum since the start. */
  readonly peakMiB: number
}

/** Returns the memory of a process. Linux only. @see proc_pid_status(5) */
export function processMemory(pid: number): ProcessMemory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) / 1024
  return { residentMiB: mebibytes('VmRSS'), peakMiB: mebibytes('VmHWM') }
}
