import { describe, test } from 'vitest'
import { nginxBinary } from './nginx.ts'

/**
 * Describes a suite that needs nginx. In CI, a missing nginx is a failed test; elsewhere the suite is skipped, and the
 * reason is printed.
 */
export function describeWithNginx(name: string, suite: () => void): void {
  if (nginxBinary() !== undefined) {
    describe(name, suite)
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error('nginx is not installed; CI installs it before the tests')
    })
  } else {
    console.warn(`skipped: "${name}" needs nginx; on most systems it is in the package "nginx"`)
    describe.skip(name, suite)
  }
}
