import { collectorBinary } from './collector.ts'
import { describeWithPrograms, type NeededProgram } from './program-suite.ts'

/** Returns the collector as a program that a suite needs. */
export const neededCollector = (): NeededProgram => ({
  name: 'the collector',
  script: 'collector',
  isBuilt: collectorBinary() !== undefined,
})

/** Declares a suite that needs the real collector: see `describeWithPrograms`. */
export function describeWithCollector(name: string, suite: () => void): void {
  describeWithPrograms(name, [neededCollector()], suite)
}
