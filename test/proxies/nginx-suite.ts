import { describe, test } from 'vitest'
import { nginxBinary } from './nginx.ts'

/**
 * A suite that needs a real nginx. It always runs in CI, where a missing one is a failed test; elsewhere it is skipped, and
 * the reason printed.
 */
export function describeWithNginx(name: string, suite: () => void): void {
  if (nginxBinary() !== undefined) {
    describe(name, suite)
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error('nginx is not installed; CI installs it before the tests')
    })
  } else {
    console.warn(`skipped: "${name}" needs nginx; the package "nginx" of most systems has it`)
    describe.skip(name, suite)
  }
}
