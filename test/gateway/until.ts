import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for something that happens beside the test; the first result that is neither `undefined` nor `false`. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 15_000,
): Promise<T> {
  for (const startedMs = performance.now(); ; await sleep(10)) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() - startedMs > deadlineMs) throw new Error(`after ${deadlineMs} ms still not: ${what}`)
  }
}
