import { describe, test } from 'vitest'

/** A program that a suite needs, and the script of package.json that builds it. */
export interface NeededProgram {
  readonly name: string
  readonly script: string
  readonly isBuilt: boolean
}

/**
 * Declares a suite that needs programs. In CI it always runs, and a missing program is a failed test. Elsewhere it is
 * skipped until the programs are built, and the reason is printed.
 */
export function describeWithPrograms(name: string, needed: readonly NeededProgram[], suite: () => void): void {
  const missing = needed.find(({ isBuilt }) => !isBuilt)
  if (missing === undefined) {
    describe(name, suite)
  } else if (process.env.CI) {
    test(name, () => {
      throw new Error(`${missing.name} is not built; CI runs "npm run ${missing.script}" before the tests`)
    })
  } else {
    console.warn(
      `skipped: "${name}" needs ${missing.name}; "npm run ${missing.script}" builds it (takes Go and minutes)`,
    )
    describe.skip(name, suite)
  }
}
