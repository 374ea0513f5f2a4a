import { describe, test } from 'vitest'
import { collectorBinary } from './collector.ts'

/**
 * Declares a suite that needs the real collector. In CI it always runs, and a missing binary is a
 * failed test. Elsewhere it is skipped until the collector is built, and the reason is printed.
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
