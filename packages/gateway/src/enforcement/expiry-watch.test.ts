import { jsonLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken, rotateToken, updateToken } from '../tokens/token-operations.ts'
import { announceExpiries, type ExpiryDeps, ExpiryWatch } from './expiry-watch.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let gateway: TemporaryGateway
let lines: Record<string, unknown>[]
let onLine: (() => void) | undefined

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  lines = []
  onLine = undefined
})
afterEach(async () => {
  await gateway.close()
})

function deps(over: Partial<ExpiryDeps> = {}): ExpiryDeps {
  const { clock, db } = gateway
  const write = (line: string) => {
    lines.push(JSON.parse(line))
    onLine?.()
  }
  return { db, clock, log: jsonLog({ write }, () => clock.nowMs()), ...over }
}
const tokenEnding = (name: string, afterMs: number | null) =>
  createToken(gateway.as('Editor'), {
    name,
    expires_at: afterMs === null ? null : new Date(START_MS + afterMs).toISOString(),
  })
const events = () => lines.map(({ event, token_name }) => [event, token_name])
const auditedEnds = () =>
  gateway.db.read.selectFrom('audit_events').selectAll().where('event', '=', 'token.expired').execute()

test('O-9: gives the notice of each step once, however many processes watch', async () => {
  await tokenEnding('ci', 15 * DAY_MS)
  await tokenEnding('forever', null)
  const another = deps({ db: await gateway.openAnother() })
  await gateway.clock.advance(DAY_MS - 1)
  await Promise.all([announceExpiries(deps()), announceExpiries(another)])
  expect(lines).toEqual([])
  await gateway.clock.advance(1)
  await Promise.all([announceExpiries(deps()), announceExpiries(another)])
  expect(lines).toEqual([
    {
      level: 'warn',
      time: '2026-11-22T07:00:00.000Z',
      event: 'token.expiring',
      token_id: expect.any(String),
      token_name: 'ci',
      expires_at: '2026-12-06T07:00:00Z',
      expires_in_seconds: 1_209_600,
      last_valid_token: false,
      msg: 'an ingest token will expire',
    },
  ])
})

test('O-9: checks every minute until it is closed', async () => {
  await tokenEnding('ci', 14 * DAY_MS + 60_000)
  const { clock } = gateway
  const watch = new ExpiryWatch(deps())
  await clock.untilSleeping()
  const announced = new Promise<void>((resolve) => {
    onLine = resolve
  })
  await clock.advance(60_000)
  await announced
  expect(events()).toEqual([['token.expiring', 'ci']])
  await watch.close()
  expect(clock.wakeTimesMs).toEqual([])
})

test('O-14, A-5: the expiry of a token is audited once, and the log marks the last valid token', async () => {
  const { id } = await tokenEnding('ci', 10 * DAY_MS)
  const another = deps({ db: await gateway.openAnother() })
  await gateway.clock.advance(9 * DAY_MS + 1)
  await announceExpiries(deps())
  await gateway.clock.advance(DAY_MS)
  await Promise.all([announceExpiries(deps()), announceExpiries(another)])
  expect(lines).toMatchObject([
    { level: 'error', event: 'token.expiring', last_valid_token: true, msg: 'the last valid ingest token will expire' },
    { level: 'error', event: 'token.expired', msg: 'the last valid ingest token has expired' },
  ])
  expect(await auditedEnds()).toMatchObject([
    { subject_id: id, actor_id: null, after_json: '{"expires_at":"2026-12-01T07:00:00Z"}' },
  ])
})

test('a changed expiry is announced again', async () => {
  const { id } = await tokenEnding('ci', 10 * DAY_MS)
  await gateway.clock.advance(4 * DAY_MS)
  await announceExpiries(deps())
  await updateToken(gateway.as('Editor'), { id, body: { expires_at: new Date(START_MS + 9 * DAY_MS).toISOString() } })
  await announceExpiries(deps())
  expect(lines.map(({ expires_at }) => expires_at)).toEqual(['2026-12-01T07:00:00Z', '2026-11-30T07:00:00Z'])
})

test('T-16: a rotated token expires without a warning, and its expiry is audited', async () => {
  const { id } = await tokenEnding('ci', null)
  await rotateToken(gateway.as('Editor'), { id, body: {} })
  await announceExpiries(deps())
  expect(lines).toEqual([])
  await gateway.clock.advance(DAY_MS)
  await announceExpiries(deps())
  expect(events()).toEqual([['token.expired', 'ci']])
  expect(await auditedEnds()).toHaveLength(1)
})

test('more tokens than fit into one batch are all announced, earliest expiry first', async () => {
  await tokenEnding('t0', 20 * DAY_MS)
  await gateway.db.write(async (tx) => {
    const { position, ...row } = await tx.selectFrom('ingest_tokens').selectAll().executeTakeFirstOrThrow()
    for (let index = 1; index < 130; index += 1) {
      const id = String(index).padStart(12, '0')
      const mac = Buffer.alloc(32, index)
      const values = { ...row, id, mac, name: `t${index}`, expires_at_ms: START_MS + 20 * DAY_MS + index }
      await tx.insertInto('ingest_tokens').values(values).execute()
    }
  })
  await gateway.clock.advance(10 * DAY_MS)
  await announceExpiries(deps())
  expect(events()).toHaveLength(130)
  expect(events()[0]).toEqual(['token.expiring', 't0'])
  expect(events()[129]).toEqual(['token.expiring', 't129'])
})

test('a failed webhook is logged and does not hold up the other notices', async () => {
  await tokenEnding('a', 20 * DAY_MS)
  await tokenEnding('b', 21 * DAY_MS)
  const notified: string[] = []
  const onNotice: ExpiryDeps['onNotice'] = async ({ token }) => {
    notified.push(token.name)
    if (token.name === 'a') throw new Error('no answer')
  }
  await gateway.clock.advance(15 * DAY_MS)
  await announceExpiries(deps({ onNotice }))
  expect(notified).toEqual(['a', 'b'])
  expect(events()).toEqual([
    ['token.expiring', 'a'],
    ['expiry.notice_failed', undefined],
    ['token.expiring', 'b'],
  ])
})
