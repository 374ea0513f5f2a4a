import { expect, test } from 'vitest'
import { seededRandom } from '../load/gateway/token-text.ts'
import { clusterRun } from './core-cluster/cluster-run.ts'
import { describeWithPostgresPrograms } from './describe-with-postgres.ts'

/** The soak `cluster` is longer: 3 cores and 4 workers with 10,000 pipelines. */
describeWithPostgresPrograms('cores and workers on several hosts', () => {
  test('export each pipeline once and keep the repository whole while they are killed', {
    timeout: 600_000,
  }, async () => {
    const result = await clusterRun({ cores: 2, workers: 2, pipelines: 200, random: seededRandom(3), skipsWaits: true })
    console.log(`core cluster: ${JSON.stringify(result)}`)
    expect(result.faults).toEqual([])
    expect([result.exports, result.traces]).toEqual([600, 200])
    expect(result.kills.core + result.kills.worker).toBeGreaterThan(0)
    expect(result.commits).toBeGreaterThan(0)
  })
})
