import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with one plain line that people and machines read alike. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
    }
    const brokenModules = modules.filter((module) => module.errors().length > 0).length
    // Printed last: vitest's own summary is written in the same hook.
    setImmediate(() =>
      console.log(`\n${counts.passed} passed, ${counts.failed + brokenModules} failed, ${counts.skipped} skipped`),
    )
  }
}
