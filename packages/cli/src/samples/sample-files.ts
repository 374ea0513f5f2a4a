import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, UsageError } from '../process/environment.ts'

/** The sample pipelines, which together show most features of pipelines. */
const samples = [
  'push-pipeline-five-jobs-three-stages',
  'failed-pipeline-with-skipped-deploy',
  'parent-pipeline-with-bridges',
  'child-pipeline-of-a-bridge',
  'rest-bundle-retried-attempts-and-bridges',
  'canceled-pipeline',
]

/** @throws {UsageError} outside a checkout */
export function sampleFiles({ samplesDirectory }: Environment): string[] {
  if (!existsSync(samplesDirectory)) {
    throw new UsageError(`the samples are only in a source checkout; there is no directory ${samplesDirectory}`)
  }
  return samples.map((name) => join(samplesDirectory, `${name}.json`))
}
