import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TokenLimits, TokenRecord } from '../contract/token-record.ts'
import { Limiter } from './limiter.ts'

const NOON_MS = Date.UTC(2026, 10, 21, 12)
const MIDNIGHT_MS = Date.UTC(2026, 10, 22)

const tokenWith = (limits: TokenLimits | undefined, id = 'a'): TokenRecord => ({
  id,
  name: id,
  mac: new Uint8Array(32),
  pepperId: 'p',
  signals: new Set(['traces', 'metrics', 'logs', 'profiles'] as const),
  tenant: undefined,
  allowedOrigins: [],
  certificateNames: [],
  allowQuery: false,
  limits,
  expiresAtMs: undefined,
  revokedAtMs: undefined,
  disabled: false,
})

describe('X-16: rates', () => {
  test('allow a burst of one second, then one at a time', () => {
    const limiter = new Limiter()
    const token = tokenWith({ traces: { second: { requests: 4 } } })
    const at = (ms: number) => limiter.take(token, 'traces', 10, NOON_MS + ms)
    expect([at(0), at(0), at(0), at(0)]).toEqual([undefined, undefined, undefined, undefined])
    expect(at(0)).toEqual({ limit: 'traces.second.requests', waitMs: 250 })
    expect(at(249)).toEqual({ limit: 'traces.second.requests', waitMs: 1 })
    expect(at(250)).toBeUndefined()
    expect(at(250)).toEqual({ limit: 'traces.second.requests', waitMs: 250 })
  })

  test('allow a body larger than the burst if the bucket is full, and delay the next ones', () => {
    const limiter = new Limiter()
    const token = tokenWith({ all: { second: { bytes: 1_000 } } })
    expect(limiter.take(token, 'logs', 5_000, NOON_MS)).toBeUndefined()
    expect(limiter.take(token, 'logs', 100, NOON_MS)).toEqual({ limit: 'all.second.bytes', waitMs: 4_100 })
    expect(limiter.take(token, 'metrics', 5_000, NOON_MS)).toEqual({ limit: 'all.second.bytes', waitMs: 5_000 })
    expect(limiter.take(token, 'metrics', 5_000, NOON_MS + 5_000)).toBeUndefined()
  })

  test('charge bytes beyond the declared length afterwards, also for a body of unknown length', () => {
    const limiter = new Limiter()
    const token = tokenWith({ traces: { second: { bytes: 100 } } })
    expect(limiter.take(token, 'traces', 0, NOON_MS)).toBeUndefined()
    limiter.settle(token, 'traces', 300, NOON_MS)
    expect(limiter.take(token, 'traces', 0, NOON_MS)).toEqual({ limit: 'traces.second.bytes', waitMs: 2_010 })
    expect(limiter.take(token, 'logs', 0, NOON_MS)).toBeUndefined()
  })

  test('charge all limits or none, and name the one with the longest wait', () => {
    const limiter = new Limiter()
    const token = tokenWith({ traces: { second: { requests: 1, bytes: 1_000 } }, all: { second: { bytes: 100 } } })
    expect(limiter.take(token, 'traces', 80, NOON_MS)).toBeUndefined()
    expect(limiter.take(token, 'traces', 1_000, NOON_MS)).toEqual({ limit: 'traces.second.requests', waitMs: 1_000 })
    expect(limiter.take(token, 'metrics', 30, NOON_MS)).toEqual({ limit: 'all.second.bytes', waitMs: 100 })
    expect(limiter.take(token, 'metrics', 20, NOON_MS)).toBeUndefined()
  })

  test('keep no state for a token without limits', () => {
    const limiter = new Limiter()
    expect(limiter.take(tokenWith(undefined), 'traces', 1e12, NOON_MS)).toBeUndefined()
    expect(limiter.dailyUse()).toEqual([])
  })

  test('apply a changed limit from the next request on, and keep what was used', () => {
    const limiter = new Limiter()
    expect(limiter.take(tokenWith({ traces: { second: { requests: 1 } } }), 'traces', 0, NOON_MS)).toBeUndefined()
    const same = tokenWith({ traces: { second: { requests: 1 } } })
    expect(limiter.take(same, 'traces', 0, NOON_MS)).toMatchObject({ waitMs: 1_000 })
    const raised = tokenWith({ traces: { second: { requests: 10 } } })
    expect(limiter.take(raised, 'traces', 0, NOON_MS)).toMatchObject({ waitMs: 100 })
  })

  test('do not make clients wait after the clock was set back', () => {
    const limiter = new Limiter()
    const token = tokenWith({ traces: { second: { requests: 1 } } })
    expect(limiter.take(token, 'traces', 0, NOON_MS)).toBeUndefined()
    expect(limiter.take(token, 'traces', 0, NOON_MS - 3_600_000)).toMatchObject({ waitMs: 1_000 })
    expect(limiter.take(token, 'traces', 0, NOON_MS - 3_599_000)).toBeUndefined()
  })
})

describe('X-16: daily quotas', () => {
  test('count until midnight UTC, with a wait of at most an hour', () => {
    const limiter = new Limiter()
    const token = tokenWith({ logs: { day: { bytes: 1_000 } } })
    expect(limiter.take(token, 'logs', 900, NOON_MS)).toBeUndefined()
    expect(limiter.take(token, 'logs', 101, NOON_MS)).toEqual({ limit: 'logs.day.bytes', waitMs: 3_600_000 })
    expect(limiter.take(token, 'logs', 100, NOON_MS)).toBeUndefined()
    expect(limiter.take(token, 'logs', 0, MIDNIGHT_MS - 90_000)).toEqual({ limit: 'logs.day.bytes', waitMs: 90_000 })
    expect(limiter.take(token, 'logs', 1_000, MIDNIGHT_MS)).toBeUndefined()
  })

  test('survive a restart, without the usage of other days', () => {
    const before = new Limiter()
    const token = tokenWith({ all: { day: { requests: 3 } } })
    before.take(token, 'logs', 10, NOON_MS)
    before.take(token, 'traces', 20, NOON_MS)
    const rows = before.dailyUse()
    expect(rows).toEqual([
      { tokenId: 'a', signal: 'traces', atMs: Date.UTC(2026, 10, 21), requests: 1, bytes: 20 },
      { tokenId: 'a', signal: 'logs', atMs: Date.UTC(2026, 10, 21), requests: 1, bytes: 10 },
    ])
    const after = new Limiter()
    after.restore(
      [...rows, { tokenId: 'a', signal: 'logs', atMs: NOON_MS - 86_400_000, requests: 9, bytes: 9 }],
      NOON_MS,
    )
    expect(after.take(token, 'metrics', 1, NOON_MS)).toBeUndefined()
    expect(after.take(token, 'metrics', 1, NOON_MS)).toEqual({ limit: 'all.day.requests', waitMs: 3_600_000 })
    expect(after.dailyUse()).toEqual([
      { tokenId: 'a', signal: 'metrics', atMs: Date.UTC(2026, 10, 21), requests: 1, bytes: 1 },
    ])
  })

  test('give each of several processes its part, also of the restored usage', () => {
    const limiter = new Limiter()
    const token = tokenWith({ all: { day: { bytes: 1_000 } } })
    limiter.setInstances(2)
    limiter.restore([{ tokenId: 'a', signal: 'logs', atMs: NOON_MS, requests: 1, bytes: 600 }], NOON_MS)
    expect(limiter.take(token, 'logs', 201, NOON_MS)).toMatchObject({ limit: 'all.day.bytes' })
    expect(limiter.take(token, 'logs', 200, NOON_MS)).toBeUndefined()
  })

  test('let one process use what the others leave, after each exchange', () => {
    const limiter = new Limiter()
    limiter.setInstances(2)
    const token = tokenWith({ all: { day: { requests: 100 } } })
    const used: number[] = []
    for (let interval = 0; interval < 8; interval += 1) {
      let count = 0
      while (limiter.take(token, 'logs', 1, NOON_MS) === undefined) count += 1
      used.push(count)
      limiter.exchange(['a'], [], NOON_MS)
    }
    expect(used).toEqual([50, 25, 12, 6, 3, 2, 1, 0])
  })

  test('count what other processes have stored, but not twice what this one has', () => {
    const limiter = new Limiter()
    const token = tokenWith({ all: { day: { requests: 10 } } })
    const row = { tokenId: 'a', signal: 'logs', atMs: NOON_MS, bytes: 0 } as const
    for (let count = 0; count < 3; count += 1) limiter.take(token, 'logs', 0, NOON_MS)
    limiter.addStored([{ ...row, requests: 3 }], NOON_MS)
    limiter.exchange(['a'], [{ ...row, requests: 3 + 5 }], NOON_MS)
    expect(limiter.take(token, 'logs', 0, NOON_MS)).toBeUndefined()
    expect(limiter.take(token, 'logs', 0, NOON_MS)).toBeUndefined()
    expect(limiter.take(token, 'logs', 0, NOON_MS)).toMatchObject({ limit: 'all.day.requests' })
  })

  test('count what others have stored of a token that this process has not seen, until midnight', () => {
    const limiter = new Limiter()
    const token = tokenWith({ all: { day: { requests: 10 } } })
    limiter.exchange(['a'], [{ tokenId: 'a', signal: 'logs', atMs: NOON_MS, requests: 10, bytes: 0 }], NOON_MS)
    expect(limiter.take(token, 'traces', 0, NOON_MS)).toMatchObject({ limit: 'all.day.requests' })
    expect(limiter.take(token, 'traces', 0, MIDNIGHT_MS)).toBeUndefined()
  })

  test('drop the state of a token that has sent nothing for a day', () => {
    const limiter = new Limiter()
    const idle = tokenWith({ all: { second: { bytes: 1 } } }, 'idle')
    const fourDays = 4 * 86_400
    expect(limiter.take(idle, 'logs', fourDays, NOON_MS)).toBeUndefined()
    expect(limiter.take(idle, 'logs', 1, NOON_MS)).toEqual({ limit: 'all.second.bytes', waitMs: fourDays * 1_000 })
    const busy = tokenWith({ all: { day: { bytes: 1_000 } } }, 'busy')
    for (let day = 0; day < 3; day += 1) limiter.take(busy, 'logs', 1, NOON_MS + day * 86_400_000)
    expect(limiter.take(idle, 'logs', 1, NOON_MS + 2 * 86_400_000)).toBeUndefined()
  })
})

const events = fc.array(
  fc.record({ afterMs: fc.nat(700), bytes: fc.nat(120), moreBytes: fc.nat(30), instance: fc.nat(3) }),
  { maxLength: 200 },
)

test('X-16: in any interval, no more passes than the rate allows plus a burst of one second', () => {
  fc.assert(
    fc.property(events, fc.integer({ min: 4, max: 50 }), fc.integer({ min: 120, max: 900 }), (run, requests, bytes) => {
      const limiter = new Limiter()
      const token = tokenWith({ traces: { second: { requests, bytes } } })
      const passed: { atMs: number; bytes: number }[] = []
      let atMs = 0
      for (const event of run) {
        atMs += event.afterMs
        if (limiter.take(token, 'traces', event.bytes, NOON_MS + atMs) === undefined)
          passed.push({ atMs, bytes: event.bytes })
      }
      passed.forEach((first, index) => {
        let passedBytes = 0
        passed.slice(index).forEach((last, further) => {
          const seconds = (last.atMs - first.atMs) / 1_000
          passedBytes += last.bytes
          expect(further + 1).toBeLessThanOrEqual(requests * (seconds + 1) + 1e-6)
          expect(passedBytes).toBeLessThanOrEqual(bytes * (seconds + 1) + 1e-6)
        })
      })
    }),
    { numRuns: 60 },
  )
})

test('X-16: the stated wait is exactly enough', () => {
  fc.assert(
    fc.property(
      events,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 7 }),
      (run, requests, bytes, instances) => {
        const limits: TokenLimits = { all: { second: { requests } }, traces: { second: { bytes } } }
        // Three limiters see the same requests; two of them retry, one in time and one too early.
        const [asking, inTime, tooEarly] = [new Limiter(), new Limiter(), new Limiter()]
        const token = tokenWith(limits)
        const all = [asking, inTime, tooEarly]
        for (const limiter of all) limiter.setInstances(instances)
        let atMs = NOON_MS
        for (const event of run) {
          atMs += event.afterMs
          const [over] = all.map((limiter) => limiter.take(token, 'traces', event.bytes, atMs))
          if (over === undefined) {
            for (const limiter of all) limiter.settle(token, 'traces', event.moreBytes, atMs)
            continue
          }
          expect(Number.isInteger(over.waitMs)).toBe(true)
          expect(tooEarly.take(token, 'traces', event.bytes, atMs + over.waitMs - 1)).toBeDefined()
          expect(inTime.take(token, 'traces', event.bytes, atMs + over.waitMs)).toBeUndefined()
          return
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('X-16: with exchanges, several processes exceed a quota by no more than they use in two intervals', () => {
  const intervalMs = 10_000
  const requests = fc.array(fc.record({ afterMs: fc.nat(800), instance: fc.nat(2) }), { minLength: 50, maxLength: 300 })
  fc.assert(
    fc.property(
      requests,
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.nat(9_999), { minLength: 3 }),
      (run, perDay, offsets) => {
        const token = tokenWith({ all: { day: { requests: perDay } } })
        const processes = [0, 1, 2].map((index) => ({ limiter: new Limiter(), unstored: 0, nextMs: offsets[index]! }))
        for (const { limiter } of processes) limiter.setInstances(3)
        const passedMs: number[] = []
        let stored = 0
        let atMs = 0
        for (const { afterMs, instance } of run) {
          atMs += afterMs
          for (const each of processes) {
            if (each.nextMs > atMs) continue
            each.nextMs += intervalMs
            const row = { tokenId: 'a', signal: 'logs', atMs: NOON_MS, bytes: 0 } as const
            each.limiter.addStored([{ ...row, requests: each.unstored }], NOON_MS)
            stored += each.unstored
            each.unstored = 0
            each.limiter.exchange(['a'], [{ ...row, requests: stored }], NOON_MS)
          }
          const used = processes[instance]!
          if (used.limiter.take(token, 'logs', 0, NOON_MS) !== undefined) continue
          used.unstored += 1
          passedMs.push(atMs)
          const recent = passedMs.filter((passed) => passed > atMs - 2 * intervalMs - 800).length
          expect(passedMs.length).toBeLessThanOrEqual(perDay + recent)
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('X-16: several processes together stay within the limit', () => {
  fc.assert(
    fc.property(
      events,
      fc.integer({ min: 4, max: 40 }),
      fc.integer({ min: 480, max: 900 }),
      fc.nat(4_000),
      (run, requests, bytes, perDay) => {
        const limiters = [new Limiter(), new Limiter(), new Limiter(), new Limiter()]
        for (const limiter of limiters) limiter.setInstances(4)
        const token = tokenWith({ all: { second: { requests, bytes }, day: { bytes: Math.max(1, perDay) } } })
        let atMs = 0
        let passed = 0
        let passedBytes = 0
        for (const event of run) {
          atMs += event.afterMs
          const limiter = limiters[event.instance]!
          if (limiter.take(token, 'logs', event.bytes, NOON_MS + atMs) !== undefined) continue
          passed += 1
          passedBytes += event.bytes
          expect(passed).toBeLessThanOrEqual(requests * (atMs / 1_000 + 1) + 1e-6)
          expect(passedBytes).toBeLessThanOrEqual(bytes * (atMs / 1_000 + 1) + 1e-6)
          expect(passedBytes).toBeLessThanOrEqual(Math.max(1, perDay))
        }
      },
    ),
    { numRuns: 100 },
  )
})
