import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a condition outside the test's control. Returns the first result that is neither `undefined` nor `false`. */
export async function until<T>(
  condition: string,
  check: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 60_000,
): Promise<T> {
  for (const startedMs = performance.now(); ; await sleep(10)) {
    const found = await check()
    if (found !== undefined && found !== false) return found
    if (performance.now() - startedMs > deadlineMs) throw new Error(`not within ${deadlineMs} ms: ${condition}`)
  }
}
