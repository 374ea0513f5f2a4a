import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findSystemTimeDurations, processSources } from './wall-clock.harness.ts'

const root = join(import.meta.dirname, '..')

/** Why a difference or comparison of moments of the system time is right. */
const reasons = {
  stored: 'one of the moments is stored in the database, in a file, or in telemetry, and outlives the process',
  token: 'the moment is the end or the beginning of a credential or a sign-in, which is a time of day',
  calendar: 'the moments are the bounds of an hour, a day or a report',
  order: 'moments are compared to put rows into an order',
  checked: 'the code detects a step of the system time itself',
  named: 'the clock that is called `nowMs` here is a monotonic one, as its comment says',
}

const allowed: Readonly<Record<string, keyof typeof reasons>> = {
  'packages/cli/src/samples/earlier-runs.ts: nowMs - day - hour * HOUR_MS - delayMs': 'calendar',
  'packages/cli/src/samples/sample-hooks.ts: a.atMs - b.atMs': 'order',
  'packages/core/src/identity/oauth/grant-token.ts: tx.nowMs - code.polledAtMs': 'stored',
  'packages/core/src/base/operations/window-counter.ts: endsAtMs - nowMs': 'stored',
  'packages/core/src/ci/pipelines/posted-status.ts: nowMs - startedAtMs': 'stored',
  'packages/core/src/ci/pipelines/posted-status.ts: startedAtMs - createdAtMs': 'stored',
  'packages/core/src/identity/sessions/verify-sign-in.ts: freeAtMs - tx.nowMs': 'stored',
  'packages/core/src/identity/tokens/mark-use.ts: nowMs - lastUsedAtMs': 'stored',
  'packages/delivery/src/queue/drain.ts: clock.nowMs() + pollMs >= leaseEndMs': 'stored',
  'packages/delivery/src/queue/drain.ts: dueMs - clock.nowMs()': 'stored',
  'packages/delivery/src/queue/queue.ts: one.enqueuedAtMs - other.enqueuedAtMs': 'order',
  'packages/exporter/src/store/export-history-store.ts: nowMs - row.last_seen_at_ms': 'stored',
  'packages/exporter/src/exporter.ts: clock.nowMs() - delivery.enqueuedAtMs': 'stored',
  'packages/forges/src/drone/hook-rules.ts: sentMs - nowMs': 'token',
  'packages/gateway/src/enforcement/admission-decision.ts: endsAtMs - nowMs': 'token',
  'packages/gateway/src/enforcement/admission-decision.ts: snapshot.graceUntilMs - nowMs': 'stored',
  'packages/gateway/src/enforcement/client-counter.ts: nowMs - this.#lastSampleMs': 'checked',
  'packages/gateway/src/enforcement/expiry-warnings.ts: expiresAtMs - nowMs': 'token',
  'packages/gateway/src/enforcement/expiry-watch.ts: token.expiresAtMs - nowMs': 'token',
  'packages/gateway/src/enforcement/expiry-webhook.ts: token.expiresAtMs - nowMs': 'token',
  'packages/gateway/src/enforcement/readiness.ts: nowMs - windowStartMs': 'calendar',
  'packages/gateway/src/limits/limiter.ts: nowMs - this.#monotonicMs': 'checked',
  'packages/gateway/src/limits/limiter.ts: nowMs - this.#originMs': 'checked',
  'packages/gateway/src/metrics/snapshot-gauges.ts: token.expiresAtMs - nowMs': 'token',
  'packages/gateway/src/metrics/token-meter.ts: nowMs - meter.hourStartMs': 'calendar',
  'packages/gateway/src/sessions/session.ts: nowMs - row.last_used_at_ms': 'stored',
  'packages/gateway/src/sessions/sign-in-code.ts: code.created_at_ms + SIGN_IN_CODE_MS > nowMs': 'token',
  'packages/gateway/src/tokens/token-changes.ts: old.expires_at_ms - old.created_at_ms': 'token',
  'packages/http/src/answers/unread-answers.ts: b.progressMs < a.progressMs': 'named',
  'packages/http/src/answers/unread-answers.ts: this.#limits.nowMs() - oldest.progressMs': 'named',
  'packages/http/src/bodies/upload-space.ts: Date.now() - found.mtimeMs': 'stored',
  'packages/observe/src/store/arrival-store.ts: nowMs < last.started_ms + SLICE_MS': 'stored',
  'packages/observe/src/store/arrival-store.ts: nowMs >= last.started_ms': 'stored',
  'packages/rest/src/auth/oauth-authorize.ts: clock.nowMs() - signedInAtMs': 'token',
  'packages/rest/src/auth/oauth.ts: (info.expiresAtMs ?? 0) - core.clock.nowMs()': 'token',
}

test('durations are measured with the monotonic clock', () => {
  const files = processSources(root).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const found = findSystemTimeDurations(files).map(({ file, text }) => `${file}: ${text}`)
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(allowed).toSorted())
})

test.each([
  ['a difference', 'const beganMs = clock.nowMs(); use(clock.nowMs() - beganMs)'],
  ['a deadline', 'const untilMs = clock.nowMs() + WAIT_MS; while (clock.nowMs() < untilMs) work()'],
  ['a field', 'class A { #nextMs = 0; a() { this.#nextMs = Date.now() + 5; return Date.now() >= this.#nextMs } }'],
  ['a property', 'const entry = { untilMs: clock.nowMs() + KEPT_MS }; if (clock.nowMs() < entry.untilMs) use(entry)'],
  ['a parameter', 'function age(atMs: number) { return atMs - lastSeenMs }; age(this.#clock.nowMs())'],
  ['a method', 'class A { age(atMs: number) { return atMs - this.#sinceMs } }; a.age(Date.now())'],
  ['the larger one', 'const sinceMs = Math.max(clock.nowMs(), 5); use(clock.nowMs() - sinceMs)'],
])('finds %s of the system time', (_, text) => {
  expect(findSystemTimeDurations([{ file: 'a.ts', text }])).toHaveLength(1)
})

test.each([
  ['a monotonic difference', 'const beganMs = clock.monotonicMs(); use(clock.monotonicMs() - beganMs)'],
  ['a monotonic parameter', 'function age(nowMs: number) { return nowMs - this.#sinceMs }; age(clock.monotonicMs())'],
  ['the age of rows to delete', 'deleteBefore(clock.nowMs() - RETENTION_MS)'],
  ['a difference of durations', 'const nowMs = clock.nowMs(); use(nowMs + leaseMs - intervalMs)'],
])('allows %s', (_, text) => {
  expect(findSystemTimeDurations([{ file: 'a.ts', text }])).toEqual([])
})
