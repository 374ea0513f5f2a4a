import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { getInstance, hashedIds, nativeIds, projectInstance } from './identity.ts'

const instance = 'ci.example.com'
const job = (id: bigint) => ({ id, bridge: false })

describe('hashed ids: literal vectors', () => {
  test.each([
    [hashedIds.traceId(instance, 31n), 'f09bd275a66f6824d2b176f2a52ef4b6'],
    [hashedIds.pipelineSpanId(instance, 31n, 31n), '57597f4a8354785e'],
    [hashedIds.jobSpanId(instance, 31n, 31n, job(380n)), '7844386fb3f17be8'],
    [hashedIds.jobSpanId(instance, 31n, 31n, job(9007199254740993n)), 'be0a10a25c1a6511'],
    [hashedIds.stageSpanId(instance, 31n, 'build'), '612578157a89b8bf'],
  ])('%s', (id, expected) => expect(id).toBe(expected))

  test('a bridge has the span id of a job of the same id', () => {
    expect(hashedIds.jobSpanId(instance, 31n, 31n, { id: 380n, bridge: true })).toBe('7844386fb3f17be8')
  })

  test('different parts never result in the same id', () => {
    const ids = fc.bigInt({ min: 1n, max: 999n })
    fc.assert(
      fc.property(
        ids,
        fc.stringMatching(/^[a-z0-9]{0,3}$/),
        ids,
        fc.stringMatching(/^[a-z0-9]{0,3}$/),
        (a, x, b, y) => {
          fc.pre(a !== b || x !== y)
          expect(hashedIds.stageSpanId(instance, a, x)).not.toBe(hashedIds.stageSpanId(instance, b, y))
        },
      ),
    )
  })
})

describe('native ids: literal vectors', () => {
  test.each([
    [nativeIds.pipelineSpanId(instance, 100n, 123n), 'ce2155075864c58b'],
    [nativeIds.jobSpanId(instance, 100n, 123n, job(1n)), '0352fd9ca0a1e4b2'],
    [nativeIds.jobSpanId(instance, 100n, 123n, { id: 255n, bridge: true }), '00000000000000ff'],
    [nativeIds.traceId(instance, 31n), '0000000000000000000000000000001f'],
    [nativeIds.traceState(instance, 31n), 'ot=rv:b176f2a52ef4b6'],
  ])('%s', (id, expected) => expect(id).toBe(expected))
})

test.each([
  ['https://CI.Example.com:443/gitlab/group/app', 'ci.example.com'],
  ['http://ci.example.com:8443/app', 'ci.example.com:8443'],
  ['not a url', ''],
  [undefined, ''],
])('instance of %s', (webUrl, expected) => expect(getInstance(webUrl)).toBe(expected))

test('a project without a URL gets its own instance', () => {
  expect(projectInstance({ id: 42n, path: 'g/p' })).toBe('project 42')
  expect(projectInstance({ path: 'g/p' })).toMatch(/^project [0-9a-f]{32}$/)
  expect(projectInstance({ path: 'g/p' })).not.toBe(projectInstance({ path: 'g/q' }))
  expect(projectInstance({})).toBe('')
})
