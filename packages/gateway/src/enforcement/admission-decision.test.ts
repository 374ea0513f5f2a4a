import { expect, test } from 'vitest'
import type { AdmissionRequest, Reason, Verdict } from '../contract/admission.ts'
import { reasons } from '../contract/admission.ts'
import type { EnforcementMode, Snapshot } from '../contract/snapshot.ts'
import { tokenRecord } from '../contract/token-record.harness.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { type AdmissionRules, decideAdmission, snapshotUnavailable } from './admission-decision.ts'
import { WarningMemory } from './warning-memory.ts'

const DAY_MS = 86_400_000
const NOW_MS = Date.UTC(2026, 10, 21, 12)

const rules = (over: Partial<AdmissionRules> = {}): AdmissionRules => ({
  maxStaleMs: 900_000,
  warnOfExpiry: false,
  warned: new WarningMemory(),
  monotonicMs: () => NOW_MS,
  random: () => 0.5,
  ...over,
})

const snapshotIn = (mode: EnforcementMode, over: Partial<Snapshot> = {}): Snapshot => ({
  epoch: 1,
  mode,
  graceUntilMs: undefined,
  byId: new Map(),
  byMac: new Map(),
  confirmedAtMs: NOW_MS,
  ...over,
})

const tokenWith = (over: Partial<TokenRecord> = {}) =>
  tokenRecord({ name: 'ci-runners', signals: new Set(['traces']), ...over })

const presentedBy = (over: Partial<AdmissionRequest> = {}): AdmissionRequest => ({
  transport: 'http',
  signal: 'traces',
  credential: { kind: 'bearer', value: 'psin_x', from: 'header' },
  origin: undefined,
  certificateNames: undefined,
  source: '192.0.2.7',
  userAgent: 'agent/1',
  requestId: undefined,
  declaredBytes: 10,
  ...over,
})

const refused = (reason: Reason, token?: TokenRecord): Verdict => ({ allowed: false, reason, token })

test.each([
  [
    'missing',
    undefined,
    'unauthenticated',
    'No ingest token. Send one in the header "Authorization: Bearer <token>".',
    'Bearer realm="otlp"',
  ],
  [
    'malformed',
    undefined,
    'unauthenticated',
    'The ingest token is not valid.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token is not valid."',
  ],
  [
    'unknown',
    undefined,
    'unauthenticated',
    'The ingest token is not valid.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token is not valid."',
  ],
  [
    'bad_secret',
    undefined,
    'unauthenticated',
    'The ingest token is not valid.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token is not valid."',
  ],
  [
    'expired',
    undefined,
    'unauthenticated',
    'The ingest token is not valid.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token is not valid."',
  ],
  [
    'expired',
    tokenWith(),
    'unauthenticated',
    'The ingest token 7Hq2mK9sT4bZ has expired.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token 7Hq2mK9sT4bZ has expired."',
  ],
  [
    'revoked',
    tokenWith(),
    'unauthenticated',
    'The ingest token 7Hq2mK9sT4bZ has been revoked.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token 7Hq2mK9sT4bZ has been revoked."',
  ],
  [
    'disabled',
    tokenWith(),
    'unauthenticated',
    'The ingest token 7Hq2mK9sT4bZ is disabled.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token 7Hq2mK9sT4bZ is disabled."',
  ],
  [
    'signal',
    tokenWith(),
    'forbidden',
    'The ingest token 7Hq2mK9sT4bZ may not be used for this signal.',
    'Bearer realm="otlp", error="insufficient_scope", scope="metrics"',
  ],
  ['origin', tokenWith(), 'forbidden', 'The ingest token 7Hq2mK9sT4bZ may not be used from this origin.', undefined],
  [
    'certificate',
    tokenWith(),
    'forbidden',
    'The ingest token 7Hq2mK9sT4bZ may not be used with this client certificate.',
    undefined,
  ],
  [
    'malformed',
    tokenWith(),
    'unauthenticated',
    'The ingest token 7Hq2mK9sT4bZ may not be sent in the query of a URL; send it in the header Authorization.',
    'Bearer realm="otlp", error="invalid_token", error_description="The ingest token 7Hq2mK9sT4bZ may not be sent in the query of a URL; send it in the header Authorization."',
  ],
] as const)(
  'P-12, T-8: %s of %o is refused with this text and challenge',
  (reason, token, kind, message, challenge) => {
    const admission = decideAdmission(
      presentedBy({ signal: 'metrics' }),
      refused(reason, token),
      snapshotIn('enforce'),
      NOW_MS,
      rules(),
    )
    expect(admission).toEqual({
      admitted: false,
      refusal: challenge === undefined ? { kind, message } : { kind, message, challenge },
    })
  },
)

test('P-12: two credentials or a malformed header are an invalid request, not a bad token', () => {
  const presented = presentedBy({ credential: { kind: 'malformed' } })
  expect(decideAdmission(presented, refused('malformed'), snapshotIn('enforce'), NOW_MS, rules())).toEqual({
    admitted: false,
    refusal: {
      kind: 'unauthenticated',
      message: 'The credential cannot be read. Send exactly one header "Authorization: Bearer <token>".',
      challenge: 'Bearer realm="otlp", error="invalid_request"',
    },
  })
})

test('E-1: off, report and warn admit what enforce refuses, with the same reason in every mode', () => {
  for (const reason of reasons) {
    for (const mode of ['off', 'report', 'warn'] as const) {
      expect(
        decideAdmission(presentedBy(), refused(reason, tokenWith()), snapshotIn(mode), NOW_MS, rules()),
      ).toMatchObject({
        admitted: true,
        token: undefined,
        auth: mode === 'off' ? 'off' : 'unverified',
        wouldReject: reason,
        expiresAt: undefined,
      })
    }
    expect(decideAdmission(presentedBy(), refused(reason), snapshotIn('enforce'), NOW_MS, rules()).admitted).toBe(false)
  }
})

test.each(['off', 'report', 'warn', 'enforce'] as const)('E-9: in mode %s a valid token is verified', (mode) => {
  const token = tokenWith()
  expect(decideAdmission(presentedBy(), { allowed: true, token }, snapshotIn(mode), NOW_MS, rules())).toEqual({
    admitted: true,
    token,
    auth: 'verified',
    wouldReject: undefined,
    warning: undefined,
    expiresAt: undefined,
    sample: undefined,
  })
})

test('admissions that add nothing share one object', () => {
  const verdict: Verdict = { allowed: true, token: tokenWith() }
  const context = [snapshotIn('report'), NOW_MS, rules()] as const
  expect(decideAdmission(presentedBy(), verdict, ...context)).toBe(decideAdmission(presentedBy(), verdict, ...context))
  expect(decideAdmission(presentedBy(), refused('missing'), ...context)).toBe(
    decideAdmission(presentedBy(), refused('missing'), ...context),
  )
})

test.each([
  { leftMs: 60_000, roll: 0, seconds: 2 },
  { leftMs: 60_000, roll: 0.99, seconds: 4 },
  { leftMs: 3_900, roll: 0.99, seconds: 3 },
  { leftMs: 1_500, roll: 0, seconds: 1 },
  { leftMs: 1, roll: 0.99, seconds: 1 },
])(
  'E-6: $leftMs ms before the end of the grace period a refusal has Retry-After $seconds',
  ({ leftMs, roll, seconds }) => {
    const snapshot = snapshotIn('enforce', { graceUntilMs: NOW_MS + leftMs })
    expect(decideAdmission(presentedBy(), refused('missing'), snapshot, NOW_MS, rules({ random: () => roll }))).toEqual(
      {
        admitted: false,
        refusal: {
          kind: 'grace_hold',
          message:
            'Ingest enforcement has just been enabled; this export will soon be rejected permanently. No ingest token. Send one in the header "Authorization: Bearer <token>".',
          retryAfterSeconds: seconds,
        },
      },
    )
  },
)

test('E-6: the grace period ends exactly at its end', () => {
  const snapshot = snapshotIn('enforce', { graceUntilMs: NOW_MS })
  expect(decideAdmission(presentedBy(), refused('missing'), snapshot, NOW_MS, rules())).toMatchObject({
    refusal: { kind: 'unauthenticated' },
  })
})

test('T-14: a snapshot that is too old neither admits nor rejects for good, in any mode and for any verdict', () => {
  const verdicts = [refused('missing'), { allowed: true, token: tokenWith() } as const]
  for (const mode of ['off', 'report', 'warn', 'enforce'] as const) {
    const old = snapshotIn(mode, { confirmedAtMs: NOW_MS - 900_001 })
    for (const verdict of verdicts) {
      expect(decideAdmission(presentedBy(), verdict, old, NOW_MS, rules())).toEqual({
        admitted: false,
        refusal: {
          kind: 'store_unreadable',
          message: 'The gateway cannot read its token store.',
          retryAfterSeconds: 3,
        },
      })
    }
    expect(snapshotUnavailable(snapshotIn(mode, { confirmedAtMs: NOW_MS - 900_000 }), rules())).toBeUndefined()
  }
})

test('E-10: before the first snapshot every request is refused as retryable', () => {
  expect(snapshotUnavailable(undefined, rules())).toEqual({
    kind: 'store_unreadable',
    message: 'The gateway is starting and has not read its tokens yet.',
    retryAfterSeconds: 3,
  })
})

test('E-5: warn mode warns once per hour per network and signal', () => {
  const context = rules()
  const warningTo = (over: Partial<AdmissionRequest>, afterMs: number): string | undefined => {
    const admission = decideAdmission(
      presentedBy(over),
      refused('missing'),
      snapshotIn('warn', { confirmedAtMs: NOW_MS + afterMs }),
      NOW_MS,
      { ...context, monotonicMs: () => NOW_MS + afterMs },
    )
    return admission.admitted ? admission.warning : undefined
  }
  expect(warningTo({}, 0)).toBe(
    'This export will be refused once ingest enforcement is on. No ingest token. Send one in the header "Authorization: Bearer <token>".',
  )
  expect(warningTo({ source: '192.0.2.200' }, 1)).toBeUndefined()
  expect(warningTo({ signal: 'logs' }, 1)).toBeDefined()
  expect(warningTo({ source: '192.0.3.7' }, 1)).toBeDefined()
  expect(warningTo({}, 3_599_999)).toBeUndefined()
  expect(warningTo({}, 3_600_000)).toBeDefined()
})

test('E-5: the memory of warnings is bounded, and gives no warnings to new sources when it is full', () => {
  const memory = new WarningMemory(2)
  expect([memory.take('a', 0), memory.take('b', 1), memory.take('c', 2)]).toEqual([true, true, false])
  expect(memory.take('c', 3_600_000)).toBe(true)
  expect(memory.size).toBe(2)
})

test.each([
  { leftMs: 7 * DAY_MS, header: undefined },
  { leftMs: 7 * DAY_MS - 1, header: '2026-11-28T11:59:59.999Z' },
  { leftMs: 1_000, header: '2026-11-21T12:00:01Z' },
])('O-9: $leftMs ms before its expiry a token is admitted with the expiry header $header', ({ leftMs, header }) => {
  const verdict: Verdict = { allowed: true, token: tokenWith({ expiresAtMs: NOW_MS + leftMs }) }
  expect(decideAdmission(presentedBy(), verdict, snapshotIn('enforce'), NOW_MS, rules())).toMatchObject({
    expiresAt: header,
    warning: undefined,
  })
})

test('O-9: if configured, the reply contains an expiry warning once an hour', () => {
  const context = rules({ warnOfExpiry: true })
  const verdict: Verdict = { allowed: true, token: tokenWith({ expiresAtMs: NOW_MS + DAY_MS }) }
  const warning = () => {
    const admission = decideAdmission(presentedBy(), verdict, snapshotIn('enforce'), NOW_MS, context)
    return admission.admitted ? admission.warning : undefined
  }
  expect(warning()).toBe('The ingest token 7Hq2mK9sT4bZ expires at 2026-11-22T12:00:00Z. Replace it before then.')
  expect(warning()).toBeUndefined()
})
