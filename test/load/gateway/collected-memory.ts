import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'undici'
import { processMemory } from './process-memory.ts'

/** The options of a process that `collectedMemory` measures: its inspector listens on any port. */
export const collectable = { NODE_OPTIONS: '--inspect-port=0' }

const LOOK_AGAIN_MS = 20
const SETTLES_MS = 500

export interface CollectedMemory {
  /** The size of reachable objects and buffers. */
  readonly inUseMiB: number
  /** The resident size, including memory that allocators keep for reuse. */
  readonly residentMiB: number
}

/**
 * Returns the memory of a Node process after a full garbage collection, which is requested from its inspector. Without the
 * collection, the result would vary by tens of megabytes of garbage.
 *
 * @param logFile the file with its stderr, where it prints the address of the inspector
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
