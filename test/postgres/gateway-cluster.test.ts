import { expect, test } from 'vitest'
import { seededRandom } from '../load/gateway/token-text.ts'
import { describeWithNginx } from '../proxies/nginx-suite.ts'
import { describeWithPostgresPrograms } from './describe-with-postgres.ts'
import { changeRuns } from './gateway-cluster/change-runs.ts'
import { GatewayCluster } from './gateway-cluster/gateway-cluster.ts'
import { killRuns } from './gateway-cluster/kill-runs.ts'
import { quotaRun } from './gateway-cluster/quota-run.ts'

/** The soak `gateway-cluster` is longer: 1,000 changes, and ten minutes of kills. */
describeWithNginx('four gateways behind nginx', () => {
  describeWithPostgresPrograms('on one PostgreSQL server', () => {
    test('T-13, T-17, X-16: they obey changes within 2 s, share a quota, and outlive kills', {
      timeout: 300_000,
    }, async () => {
      const random = seededRandom(7)
      await using cluster = await GatewayCluster.start()
      const changed = await changeRuns(cluster, { changes: 40, random })
      expect(changed.faults).toEqual([])
      const delays = [...changed.delaysMs.values()].flat()
      expect(delays).toHaveLength(40)
      expect(Math.max(...delays)).toBeLessThan(2_000)

      const quota = await quotaRun(cluster, { perDay: 200, perSecond: 30, durationMs: 15_000 })
      expect(quota.accepted).toBeGreaterThan(0)
      expect(quota.accepted).toBeLessThanOrEqual(quota.perDay + quota.boundRequests)
      expect(quota.answers[429]).toBeGreaterThan(0)

      const killed = await killRuns(cluster, { durationMs: 20_000, perSecond: 30, random })
      console.log(`gateway cluster: worst change ${Math.max(...delays).toFixed(0)} ms, ${JSON.stringify(killed)}`)
      expect(killed.faults).toEqual([])
      expect(killed.gatewayKills).toBeGreaterThan(0)
      expect(killed.revocations).toBeGreaterThan(0)
      expect(killed.refusedSenders.revoked[401]).toBeGreaterThan(0)
      expect(killed.refusedSenders.unknown[401]).toBeGreaterThan(0)
    })
  })
})
