import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'undici'
import { processMemory } from './process-memory.ts'

/** For a process whose memory is to be collected: its inspector takes any port. */
export const collectable = { NODE_OPTIONS: '--inspect-port=0' }

const LOOK_AGAIN_MS = 20
const SETTLES_MS = 500

export interface CollectedMemory {
  /** Objects and buffers that are still reachable. */
  readonly inUseMiB: number
  /** With what the allocators keep for the next time. */
  readonly residentMiB: number
}

/**
 * Memory of a Node process after a full collection, which its inspector is asked for: what it keeps, without what it has
 * not got round to throwing away, of which there may be tens of megabytes more or less at any moment.
 *
 * @param logFile where its stderr goes; there it says where the inspector listens
 */
export async function collectedMemory(pid: number, logFile: string): Promise<CollectedMemory> {
  process.kill(pid, 'SIGUSR1')
  const socket = new WebSocket(await inspectorUrl(logFile))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const ask = async (method: string, params: object = {}) => {
    const answered = new Promise<string>((resolve) =>
      socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true }),
    )
    socket.send(JSON.stringify({ id: 1, method, params }))
    return JSON.parse(await answered)
  }
  await ask('HeapProfiler.collectGarbage')
  await sleep(SETTLES_MS)
  const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())'
  const { result } = await ask('Runtime.evaluate', { expression, returnByValue: true })
  socket.close()
  return { inUseMiB: result.result.value / 2 ** 20, residentMiB: processMemory(pid).residentMiB }
}

async function inspectorUrl(logFile: string): Promise<string> {
  for (;;) {
    const match = /Debugger listening on (ws:\S+)/.exec(readFileSync(logFile, 'utf8'))
    if (match !== null) return match[1]!
    await sleep(LOOK_AGAIN_MS)
  }
}
