import type { Reporter, TestModule } from 'vitest/node'

/** Prints a last line with the result that both people and programs can read. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++
    }
    const brokenModules = modules.filter((module) => module.errors().length > 0).length
    // It is printed last, because vitest writes its own summary in the same hook.
    setImmediate(() =>
      console.log(`\n${counts.passed} passed, ${counts.failed + brokenModules} failed, ${counts.skipped} skipped`),
    )
  }
}
