import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ExportCall } from '../contract/export-call.ts'
import { drain, named, sent, setUp } from './coalescer.harness.ts'
import { accepted, exportCall, ModelUpstream, refusal, spanNames, token, traceBody } from './model-upstream.harness.ts'

describe('C-1: never joins', () => {
  test.each<[string, Partial<Parameters<typeof exportCall>[0]>]>([
    ['two tokens', { owner: token('b') }],
    ['two tenants', { owner: token('a', 'x') }],
    ['two signals', { signal: 'logs' }],
    ['two protocols', { transport: 'grpc' }],
    ['two sets of headers', { headers: ['user-agent', 'sdk/2'] }],
    ['different numbers of headers', { headers: ['user-agent', 'sdk/1', 'x-a', ''] }],
  ])('%s', async (_, changes) => {
    const { upstream, joined } = setUp()
    await joined(
      [traceBody(['a1']), traceBody(['a2']), traceBody(['b1'])],
      [exportCall(), exportCall(), exportCall(changes)],
    )
    expect(upstream.requests.map((request) => upstream.read(request))).toEqual([['first'], ['b1'], ['a1', 'a2']])
  })

  test.each<[string, Partial<ExportCall>]>([
    ['JSON', { encoding: 'json' }],
    ['profiles', { signal: 'profiles' }],
    ['an unsupported content encoding', { contentEncoding: 'zstd' }],
    ['no token', { admitted: { ...exportCall().admitted, token: undefined, auth: 'off' } }],
  ])('%s: does not accept the body, and sends it alone if submitted', async (_, changes) => {
    const { coalescer, upstream, joined } = setUp()
    expect(coalescer.accepts(exportCall(), 10)).toBe(true)
    expect(coalescer.accepts(exportCall(changes), 10)).toBe(false)
    await joined(named(3), [exportCall(), exportCall(), exportCall(changes)])
    expect(upstream.requests.map((request) => upstream.read(request))).toEqual([['first'], ['s2'], ['s0', 's1']])
  })

  test('does not accept bodies longer than 16 KiB', async () => {
    const { coalescer } = setUp()
    expect([16 * 1024, 16 * 1024 + 1].map((bytes) => coalescer.accepts(exportCall(), bytes))).toEqual([true, false])
  })

  test('bodies for two upstreams', async () => {
    const { coalescer, upstream, start } = setUp()
    const other = new ModelUpstream()
    start(traceBody(['a']))
    void coalescer.submit(exportCall(), traceBody(['b']), other)
    expect([sent(upstream), sent(other)]).toEqual([[1], [1]])
  })

  test('sends a body with an unknown top-level field alone and unchanged', async () => {
    const { upstream, joined } = setUp()
    const strange = Buffer.concat([traceBody(['x']), Uint8Array.of(0x12, 0x00)])
    await joined([traceBody(['a']), strange, traceBody(['b'])])
    expect(upstream.requests.map((request) => upstream.read(request))).toEqual([['first'], ['x'], ['a', 'b']])
    expect(upstream.requests[1]?.body).toBe(strange)
  })
})

describe('joining cannot be abused', () => {
  const victim = traceBody(['victim'])

  test('a record that claims the next body: simple concatenation would swallow it', async () => {
    const thief = Uint8Array.of(0x0a, victim.length)
    expect(spanNames(Buffer.concat([thief, victim]))).not.toContain('victim')
    const { upstream, joined } = setUp()
    const answers = await joined([thief, victim])
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual([refusal('rejected', 400), accepted])
    expect(upstream.accepted).toEqual(['first', 'victim'])
  })

  test('a group opened before and closed after a body: simple concatenation would hide it', async () => {
    const start = Uint8Array.of(0x13)
    const end = Uint8Array.of(0x14)
    expect(spanNames(Buffer.concat([start, victim, end]))).toEqual([])
    const { upstream, joined } = setUp()
    const answers = await joined([start, victim, end])
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual([refusal('rejected', 400), accepted, refusal('rejected', 400)])
    expect(upstream.accepted).toEqual(['first', 'victim'])
  })

  test('zero bytes after a gzip member: simple concatenation would drop what follows', async () => {
    const padded = Buffer.concat([gzipSync(traceBody(['padded'])), Buffer.alloc(4)])
    const packed = gzipSync(victim)
    expect(spanNames(gunzipSync(Buffer.concat([padded, packed])))).toEqual(['padded'])
    const { upstream, joined } = setUp()
    const gzip = () => exportCall({ contentEncoding: 'gzip' })
    const answers = await joined([padded, packed], [gzip(), gzip()])
    await drain(upstream, (pending) => pending.answerByContent())
    expect(await Promise.all(answers)).toEqual([accepted, accepted])
    expect(upstream.accepted.toSorted()).toEqual(['first', 'padded', 'victim'])
  })
})
