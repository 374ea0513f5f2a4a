import { describe, test } from 'vitest'
import { collectorBinary } from './collector.ts'

/**
 * A suite that needs the real collector. It always runs in CI, where a missing binary is a failed
 * test; elsewhere it is skipped, and the reason printed, until someone builds one.
 */
export function describeWithCollector(name: string, suite: () => void): void {
  if (collectorBinary() !== undefined) {
    describe(name, suite)
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error('the collector is not built; CI runs "npm run collector" before the tests')
    })
  } else {
    console.warn(`skipped: "${name}" needs a collector; "npm run collector" builds one (takes Go and minutes)`)
    describe.skip(name, suite)
  }
}
