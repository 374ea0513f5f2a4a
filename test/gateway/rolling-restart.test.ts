import { expect, test } from 'vitest'
import { describeWithNginx } from '../proxies/nginx-suite.ts'
import { rollingRestart } from './rolling.ts'

describeWithNginx('two gateways behind nginx', () => {
  test('X-15: each is restarted in turn under 500 requests/s; no request is lost or refused for good', async () => {
    const { load, exitCodes, faults, duplicates } = await rollingRestart({ perSecond: 500, drainDelayMs: 1_000 })
    console.log(
      `rolling restart: ${load.sent} requests, answers ${JSON.stringify(load.answers)}, ${duplicates} arrived twice, ` +
        `slowest ${load.slowestMs.toFixed(0)} ms`,
    )
    expect(faults).toEqual([])
    expect(exitCodes).toEqual([0, 0])
    expect(load.sent).toBeGreaterThan(2_000)
  })
})
