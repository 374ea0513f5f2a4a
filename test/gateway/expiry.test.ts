import { expect, test } from 'vitest'
import { startSink } from './accepting-sink.ts'
import { clientKinds, exportOnce } from './export-client.ts'
import { logged, metricLines } from './metrics-page.ts'
import { type SteppedGateway, startGatewayAt } from './stepped-clock.ts'
import { until } from './until.ts'

const startMs = Date.parse('2026-11-21T07:03:00Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const endMs = startMs + 20 * DAY_MS
const endText = '2026-12-11T07:03:00Z'

const start = async (env: Record<string, string> = {}): Promise<SteppedGateway> => {
  const sink = await startSink()
  return startGatewayAt(startMs, { PENSTOCK_UPSTREAM: sink.url, ...env })
}

const warnings = (gateway: SteppedGateway) => logged(gateway, 'token.expiring')

test('O-9: the expiry of a token is announced 14, 7, 3 and 1 days and an hour before, each once', async () => {
  const gateway = await start()
  const { id } = await gateway.token({ name: 'ci-runners', expires_at: endText })
  await gateway.token({ name: 'lasting' })
  // A minute before the first step nothing is logged.
  await gateway.advanceTo(endMs - 14 * DAY_MS - 60_000)
  expect(warnings(gateway)).toEqual([])
  const steps = [14 * DAY_MS, 7 * DAY_MS, 3 * DAY_MS, DAY_MS, HOUR_MS]
  for (const [index, stepMs] of steps.entries()) {
    await gateway.advanceTo(endMs - stepMs)
    await until(`warning ${index + 1}`, () => warnings(gateway).length === index + 1)
  }
  expect(warnings(gateway)).toMatchObject(
    [1_209_600, 604_800, 259_200, 86_400, 3_600].map((seconds) => ({
      level: 'warn',
      token_id: id,
      token_name: 'ci-runners',
      expires_at: endText,
      expires_in_seconds: seconds,
      last_valid_token: false,
    })),
  )
  expect(logged(gateway, 'token.expired')).toEqual([])

  await gateway.advanceTo(endMs)
  await until('the expiry is logged', () => logged(gateway, 'token.expired').length === 1)
  expect(logged(gateway, 'token.expired')).toMatchObject([{ token_id: id, expires_at: endText }])
  await gateway.advanceTo(endMs + DAY_MS)
  expect([warnings(gateway).length, logged(gateway, 'token.expired').length]).toEqual([5, 1])

  const { json: audit } = await gateway.call<{ event: string }[]>('GET', '/audit')
  expect(audit.filter(({ event }) => event === 'token.expired')).toMatchObject([
    { event: 'token.expired', at: endText },
  ])
})

test('A-5: the warning marks the last valid token, and its expiry affects only its own users', async () => {
  const gateway = await start()
  const { token } = await gateway.token({ expires_at: endText })
  await gateway.enforce(true)
  await gateway.advanceTo(endMs - HOUR_MS)
  await until('the warning', () => warnings(gateway).length === 1)
  expect(warnings(gateway)).toMatchObject([{ level: 'error', last_valid_token: true, expires_in_seconds: 3_600 }])
  expect((await gateway.call('GET', '/state')).json).toMatchObject({ valid_tokens: 1, next_expiry: endText })
  await gateway.advanceTo(endMs)
  expect((await exportOnce(gateway.otlpPort, 'HTTP protobuf', { token })).code).toBe(401)
  expect((await gateway.call('GET', '/state')).json).toMatchObject({
    enabled: true,
    valid_tokens: 0,
    warnings: ['no_valid_token'],
  })
})

test.each(clientKinds)(
  'O-9: the reply contains the expiry of a token with less than 7 days left (%s)',
  async (kind) => {
    const gateway = await start()
    const { token } = await gateway.token({ expires_at: endText })
    const expiryHeader = async () =>
      (await exportOnce(gateway.otlpPort, kind, { token })).headers['x-ingest-token-expires']
    await gateway.advanceTo(endMs - 7 * DAY_MS)
    expect(await expiryHeader()).toBeUndefined()
    await gateway.advanceTo(endMs - 7 * DAY_MS + 1)
    expect(await expiryHeader()).toBe(endText)
  },
)

test.each(clientKinds)('O-9, E-5: if configured, replies contain an expiry warning once an hour (%s)', async (kind) => {
  const gateway = await start({ PENSTOCK_WARN_OF_EXPIRY: 'true' })
  const { id, token } = await gateway.token({ expires_at: endText })
  await gateway.enforce(true)
  await gateway.advanceTo(endMs - DAY_MS)
  const partialSuccess = async () => (await exportOnce(gateway.otlpPort, kind, { token })).partial
  expect(await partialSuccess()).toEqual({
    rejected: 0n,
    message: `The ingest token ${id} expires at ${endText}. Replace it before then.`,
  })
  expect(await partialSuccess()).toBeUndefined()
  await gateway.advanceTo(endMs - DAY_MS + HOUR_MS)
  expect((await partialSuccess())?.rejected).toBe(0n)
})

test('O-8: the metrics contain the number of valid tokens and the time until each expires', async () => {
  const gateway = await start()
  const { id } = await gateway.token({ expires_at: endText })
  await gateway.token({ name: 'lasting' })
  await gateway.advanceTo(endMs - HOUR_MS)
  expect(await metricLines(gateway, 'otelcol_ingestauth_valid_tokens ')).toEqual(['otelcol_ingestauth_valid_tokens 2'])
  expect(await metricLines(gateway, 'otelcol_ingestauth_token_expiry_seconds{')).toEqual([
    `otelcol_ingestauth_token_expiry_seconds{token_id="${id}"} 3600`,
  ])
  const { json: list } = await gateway.call<{ id: string }[]>('GET', '/tokens')
  expect(list.find((entry) => entry.id === id)).toMatchObject({
    status: 'valid',
    expires_in_seconds: 3_600,
    expires_soon: true,
  })
  await gateway.advanceTo(endMs)
  expect(await metricLines(gateway, 'otelcol_ingestauth_valid_tokens ')).toEqual(['otelcol_ingestauth_valid_tokens 1'])
})
