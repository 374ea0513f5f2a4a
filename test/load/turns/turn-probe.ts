/**
 * Measures the longest turn of the event loop between two messages. It is loaded into the measured process with `--import`. The time
 * that the main thread was ready and waited for a processor does not count, so that a busy machine makes no difference; the
 * time that it waited for a disk does.
 */
import { isMainThread } from 'node:worker_threads'
import { processorWaitSeconds } from '../gateway/processor-wait.ts'

const RESOLUTION_MS = 1
let timer: NodeJS.Timeout | undefined
let longestMs = 0

if (isMainThread) {
  process.on('message', (message) => {
    if (message === 'reset') {
      begin()
      process.send!('ready')
    }
    if (message === 'memory') process.send!(process.memoryUsage.rss())
    if (message === 'read') {
      clearInterval(timer)
      process.send!(longestMs)
    }
  })
  // Its channel must not keep the process alive.
  process.channel?.unref()
}

function begin(): void {
  clearInterval(timer)
  longestMs = 0
  let before = now()
  timer = setInterval(() => {
    const after = now()
    longestMs = Math.max(longestMs, after - before - RESOLUTION_MS)
    before = after
  }, RESOLUTION_MS).unref()
}

function now(): number {
  return performance.now() - processorWaitSeconds(process.pid) * 1_000
}
