import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'undici'
import { processMemory } from './process-memory.ts'

/** For a process whose memory is to be collected: its inspector takes any port. */
export const collectable = { NODE_OPTIONS: '--inspect-port=0' }

const LOOK_AGAIN_MS = 20
const SETTLES_MS = 500

/**
 * Resident memory of a Node process after a full collection, which its inspector is asked for: what it keeps, without what
 * it has not got round to throwing away, of which there may be tens of megabytes more or less at any moment.
 *
 * @param logFile where its stderr goes; there it says where the inspector listens
 */
export async function collectedMiB(pid: number, logFile: string): Promise<number> {
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await inspectorUrl(logFile))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const collected = new Promise((resolve) => socket.addEventListener('message', resolve))
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
  await collected
  socket.close()
  await sleep(SETTLES_MS)
  return processMemory(pid).residentMiB
}

async function inspectorUrl(logFile: string): Promise<string> {
  for (;;) {
    const match = /Debugger listening on (ws:\S+)/.exec(readFileSync(logFile, 'utf8'))
    if (match !== null) return match[1]!
    await sleep(LOOK_AGAIN_MS)
  }
}
