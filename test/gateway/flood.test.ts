import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { traceBody } from '../load/gateway/bodies.ts'
import { rawLoad } from '../load/gateway/raw-load.ts'
import { idOfToken, stockTokens } from '../load/gateway/token-stock.ts'
import { wrongTokens } from '../load/gateway/wrong-tokens.ts'
import { CountingSink } from './counting-sink.ts'
import { logged, metricLines } from './metrics-page.ts'
import { startGateway } from './running-gateway.ts'

const DAY_MS = 86_400_000
const WRONG = 50_000
const VALID = 1_500
const body = traceBody(300)

test('T-11, T-12: during 50,000 requests with wrong tokens, the owners of the abused ids are always admitted', async () => {
  await using sink = await CountingSink.start()
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-flood-'))
  const nowMs = Date.now()
  const valid = await stockTokens(dataDir, { count: 4 })
  const expired = await stockTokens(dataDir, { count: 4, expiresAtMs: nowMs - DAY_MS })
  const revoked = await stockTokens(dataDir, { count: 4, revokedAtMs: nowMs - DAY_MS })
  const gateway = await startGateway({
    PENSTOCK_DATA_DIR: dataDir,
    PENSTOCK_UPSTREAM: sink.url,
    PENSTOCK_COALESCE: 'false',
  })
  await gateway.enforce(true)

  const wrong = wrongTokens({ validIds: valid.map(idOfToken), expired, revoked })
  const [good, bad] = await Promise.all([
    rawLoad({
      port: gateway.otlpPort,
      perSecond: 300,
      count: VALID,
      connections: 8,
      tokenOf: (index) => valid[index % valid.length]!,
      body,
    }),
    rawLoad({
      port: gateway.otlpPort,
      perSecond: 10_000,
      count: WRONG,
      connections: 32,
      together: 4,
      tokenOf: wrong,
      body,
    }),
  ])

  expect(good.answers).toEqual({ 200: 1_500 })
  expect(bad.answers).toEqual({ 401: 50_000 })
  expect(sink.requests).toBe(1_500)
  expect(await rejections(gateway)).toEqual({
    malformed: 4_167,
    unknown: 8_333,
    bad_secret: 12_500,
    expired: 12_500,
    revoked: 12_500,
  })
  // One line in 10 s per reason, and per token with a right secret.
  const lines = logged(gateway, 'ingest.refused').filter(({ request_id }) => request_id !== undefined)
  expect(lines.length).toBeLessThanOrEqual(60)
})

/** Returns the rejections of traces over HTTP by reason. */
async function rejections(gateway: Parameters<typeof metricLines>[0]): Promise<Record<string, number>> {
  const lines = await metricLines(gateway, 'otelcol_ingestauth_decisions')
  const pairs = lines
    .filter((line) => line.includes('decision="reject"'))
    .map((line): [string, number] => [/reason="(\w+)"/.exec(line)![1]!, Number(line.split(' ').at(-1))])
  return Object.fromEntries(pairs)
}
