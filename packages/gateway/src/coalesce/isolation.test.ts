import { gzipSync } from 'node:zlib'
import { ManualClock } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Answer } from '../contract/answer.ts'
import { defaultCoalesceSettings } from '../contract/coalesce-settings.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { Coalescer } from './coalescer.ts'
import {
  accepted,
  exportCall,
  ModelUpstream,
  type Pending,
  refusal,
  token,
  traceBody,
  verdict,
} from './model-upstream.harness.ts'

/** A body to be sent by a client. Its spans are named after the body and its owner when it is built. */
interface Draft {
  readonly owner: 'a' | 'b'
  readonly records: readonly number[]
  readonly damage: Damage
  readonly packing: Packing
}
type Damage = { readonly kind: keyof typeof damages; readonly at: number }
type Packing = keyof typeof packings

/** Functions that turn a valid body into one that a hostile or broken client would send. */
const damages = {
  none: (body: Buffer) => body,
  empty: () => Buffer.alloc(0),
  claimsMore: (body: Buffer, at: number) => Buffer.concat([body, Buffer.from([0x0a, at % 128])]),
  onlyClaims: (_: Buffer, at: number) => Buffer.from([0x0a, 1 + (at % 127)]),
  groupStart: () => Buffer.from([0x13]),
  groupEnd: () => Buffer.from([0x14]),
  groupAround: (body: Buffer) => Buffer.concat([Buffer.from([0x13]), body, Buffer.from([0x14])]),
  unknownField: (body: Buffer) => Buffer.concat([body, Buffer.from([0x12, 0x01, 0x00])]),
  paddedLength: (body: Buffer) => Buffer.concat([body, Buffer.from([0x0a, 0x80, 0x00])]),
  faultInRecord: (body: Buffer) => Buffer.concat([body, Buffer.from([0x0a, 0x03, 0x12, 0x05, 0x00])]),
  groupInRecord: (body: Buffer) => Buffer.concat([body, Buffer.from([0x0a, 0x01, 0x13])]),
  cut: (body: Buffer, at: number) => body.subarray(0, body.length === 0 ? 0 : at % body.length),
  flipped: (body: Buffer, at: number) => {
    const copy = Buffer.from(body)
    if (copy.length > 0) copy[at % copy.length]! ^= 1 << (at % 8)
    return copy
  },
}

const packings = {
  plain: (body: Buffer) => body,
  gzip: (body: Buffer) => gzipSync(body),
  members: (body: Buffer) => Buffer.concat([gzipSync(body.subarray(0, 3)), gzipSync(body.subarray(3))]),
  zerosBehind: (body: Buffer) => Buffer.concat([gzipSync(body), Buffer.alloc(5)]),
  zerosBetween: (body: Buffer) => Buffer.concat([gzipSync(body), Buffer.alloc(5), gzipSync(body)]),
  moreBehind: (body: Buffer) => Buffer.concat([gzipSync(body), Buffer.from('more')]),
  memberCut: (body: Buffer) => gzipSync(body).subarray(0, -2),
}

type Step =
  | { readonly do: 'submit'; readonly draft: Draft }
  | { readonly do: 'reply'; readonly which: number; readonly script: Script }
  | { readonly do: 'wait'; readonly ms: number }

/** How upstream answers a request. `byContent` depends on the body, the others do not. */
const scripts = {
  byContent: (pending) => pending.answerByContent(),
  badRequest: (pending) => pending.answer(refusal('rejected', 400)),
  tooLarge: (pending) => pending.answer(refusal('too_large', 413)),
  throttled: (pending) => pending.answer(refusal('throttled', 429, 2)),
  credential: (pending) => pending.answer(refusal('credential', 503, 3)),
  unreachable: (pending) => pending.answer(refusal('unreachable', 503, 3)),
  lost: (pending) => pending.answer(refusal('unknown', 502)),
  takenThenLost: (pending, upstream) => {
    upstream.accepted.push(...(upstream.read(pending.request) ?? []))
    pending.answer(refusal('unknown', 504))
  },
} satisfies Record<string, (pending: Pending, upstream: ModelUpstream) => void>
type Script = keyof typeof scripts

/** The lengths of bodies with one span, so that a record may claim exactly the bytes of the next body. */
const likelyLengths = ['a1.0.0', 'a11.0.0'].map((name) => traceBody([name]).length)
const places = fc.oneof(fc.nat({ max: 400 }), fc.constantFrom(...likelyLengths))

/** Limits a run to few kinds of damage and packing. With all kinds in every batch, no batch would ever succeed. */
const themes = fc.record({
  kinds: fc.subarray(Object.keys(damages) as Damage['kind'][], { minLength: 1, maxLength: 2 }),
  packings: fc.subarray(Object.keys(packings) as Packing[], { minLength: 1, maxLength: 2 }),
  plainShare: fc.constantFrom(0, 1, 4, 40),
})
const intact = { kinds: ['none'], packings: ['plain'], plainShare: 0 } satisfies Theme
interface Theme {
  readonly kinds: readonly Damage['kind'][]
  readonly packings: readonly Packing[]
  readonly plainShare: number
}

function drafts({ kinds, packings, plainShare }: Theme): fc.Arbitrary<Draft> {
  const mostly = <Value>(usual: Value, others: readonly Value[]) =>
    fc.oneof(
      { weight: plainShare, arbitrary: fc.constant(usual) },
      { weight: 2, arbitrary: fc.constantFrom(...others) },
    )
  return fc.record({
    owner: fc.constantFrom('a', 'a', 'a', 'b'),
    records: fc.oneof(fc.constant([1]), fc.array(fc.nat({ max: 3 }), { maxLength: 3 })),
    damage: fc.record({ kind: mostly('none', kinds), at: places }),
    packing: mostly('plain', packings),
  })
}

function steps(theme: Theme, script: fc.Arbitrary<Script>): fc.Arbitrary<Step[]> {
  const submit = drafts(theme).map((draft): Step => ({ do: 'submit', draft }))
  const reply = fc.record({ do: fc.constant('reply' as const), which: fc.nat({ max: 5 }), script })
  const wait = fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 5, 2_500) })
  return fc.array(
    fc.oneof({ weight: 8, arbitrary: submit }, { weight: 3, arbitrary: reply }, { weight: 1, arbitrary: wait }),
    { maxLength: 50, size: 'max' },
  )
}

interface Sent {
  readonly body: Uint8Array
  /** The spans that a decoder finds in this body alone; `undefined` if it refuses the body. */
  readonly names: readonly string[] | undefined
  /** The answer that the client would get without joining. */
  readonly alone: Answer
  answer: Answer | undefined
}

async function run(all: readonly Step[], rest: Script = 'byContent') {
  const clock = new ManualClock(1_000_000)
  const upstream = new ModelUpstream()
  const coalescer = new Coalescer({
    settings: { ...defaultCoalesceSettings, maxBodies: 16 },
    clock,
    random: () => 0,
    metrics: new MetricRegistry(),
  })
  const bodies: Sent[] = []
  /** Bodies that got a final refusal from the test when they were sent alone, independent of their content. */
  const condemned = new Set<unknown>()
  const play = (pending: Pending, script: Script) => {
    if (script === 'badRequest' || script === 'tooLarge') condemned.add(pending.request.body)
    scripts[script](pending, upstream)
  }
  for (const step of all) {
    if (step.do === 'submit') {
      const { owner, records, damage: harm, packing } = step.draft
      const id = `${owner}${bodies.length}`
      const whole = traceBody(
        ...records.map((spans, record) => Array.from({ length: spans }, (_, span) => `${id}.${record}.${span}`)),
      )
      const body = packings[packing](damages[harm.kind](Buffer.from(whole), harm.at))
      const contentEncoding = packing === 'plain' ? '' : 'gzip'
      const names = upstream.read({ body, contentEncoding })
      const sent: Sent = { body, names, alone: verdict(names), answer: undefined }
      bodies.push(sent)
      const call = exportCall({ owner: token(owner), contentEncoding })
      void coalescer.submit(call, body, upstream).then((answer) => {
        expect(sent.answer).toBeUndefined()
        sent.answer = answer
      })
    } else if (step.do === 'reply') {
      const pending = upstream.pending[step.which % Math.max(1, upstream.pending.length)]
      if (pending !== undefined) play(pending, step.script)
      await turn()
    } else {
      await clock.advance(step.ms)
    }
  }
  const idle = coalescer.flush()
  await turn()
  while (upstream.pending.length > 0) {
    for (const pending of upstream.pending) play(pending, rest)
    await turn()
    await clock.advance(5)
  }
  await idle
  await turn()
  return { bodies, upstream, condemned }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Returns `names` without one occurrence for each of `others`. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const name of others) left.set(name, (left.get(name) ?? 0) + 1)
  return names.filter((name) => {
    const count = left.get(name) ?? 0
    left.set(name, count - 1)
    return count <= 0
  })
}

test('C-2, C-3: an upstream that judges by content accepts the same spans as without joining', async () => {
  await fc.assert(
    fc.asyncProperty(
      themes.chain((theme) => steps(theme, fc.constant('byContent'))),
      async (all) => {
        const { bodies, upstream } = await run(all)
        for (const { answer, alone } of bodies) expect(answer).toEqual(alone)
        expect(upstream.accepted.toSorted()).toEqual(bodies.flatMap(({ names }) => names ?? []).toSorted())
        expect(upstream.requests.length).toBeLessThanOrEqual(Math.max(0, 2 * bodies.length - 1))
      },
    ),
    { numRuns: 300 },
  )
})

test('X-2, C-7: loses and duplicates nothing, whatever upstream answers', async () => {
  const anyScript = fc.oneof(
    { weight: 4, arbitrary: fc.constant<Script>('byContent') },
    { weight: 6, arbitrary: fc.constantFrom(...(Object.keys(scripts) as Script[])) },
  )
  await fc.assert(
    fc.asyncProperty(
      themes.chain((theme) => steps(theme, anyScript)),
      fc.constantFrom<Script>('byContent', 'byContent', 'badRequest', 'lost'),
      async (all, rest) => {
        const { bodies, upstream, condemned } = await run(all, rest)
        const sure: string[] = []
        const possible: string[] = []
        for (const { body, names = [], alone, answer } of bodies) {
          if (answer === undefined) throw new Error('a body was never answered')
          const isFinal = answer.kind === 'refused' && (answer.cause === 'rejected' || answer.cause === 'too_large')
          if (answer.kind === 'accepted') {
            expect(alone).toEqual(accepted)
            sure.push(...names)
          }
          if (isFinal) expect(alone.kind === 'refused' || condemned.has(body)).toBe(true)
          else possible.push(...names)
        }
        // Every acknowledged span was accepted. No span was accepted twice, or although its client got a final refusal.
        expect(without(sure, upstream.accepted)).toEqual([])
        expect(without(upstream.accepted, possible)).toEqual([])
        expect(upstream.requests.length).toBeLessThanOrEqual(Math.max(0, 2 * bodies.length - 1))
      },
    ),
    { numRuns: 300 },
  )
})

test('C-1: no request has spans of two owners', async () => {
  await fc.assert(
    fc.asyncProperty(steps(intact, fc.constant('byContent')), async (all) => {
      const { upstream } = await run(all)
      for (const request of upstream.requests) {
        const owners = new Set(upstream.read(request)?.map((name) => name[0]))
        expect(owners.size).toBeLessThanOrEqual(1)
      }
    }),
    { numRuns: 100 },
  )
})

test('the rejected items reported to an owner are those that upstream has rejected', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drafts(intact), { maxLength: 40, size: 'max' }),
      fc.array(fc.nat({ max: 9 }), { size: 'max', maxLength: 40 }),
      async (all, refusing) => {
        const upstream = new ModelUpstream()
        const coalescer = new Coalescer({
          settings: defaultCoalesceSettings,
          clock: new ManualClock(),
          random: () => 0,
          metrics: new MetricRegistry(),
        })
        const answers = all.map(({ owner, records }) => {
          const body = traceBody(...records.map((spans) => Array.from({ length: spans }, () => owner)))
          return coalescer.submit(exportCall({ owner: token(owner) }), body, upstream)
        })
        let refused = 0n
        while (upstream.pending.length > 0) {
          for (const pending of upstream.pending) {
            const count = upstream.read(pending.request)?.length ?? 0
            const rejected = BigInt(Math.min(count, refusing.pop() ?? 0))
            refused += rejected
            const partialSuccess = { rejected, message: 'some' }
            pending.answer({ kind: 'accepted', partialSuccess, body: undefined })
          }
          await turn()
        }
        const reported = (await Promise.all(answers)).map((answer) =>
          answer.kind === 'accepted' ? (answer.partialSuccess?.rejected ?? 0n) : 0n,
        )
        expect(reported.reduce((sum, rejected) => sum + rejected, 0n)).toBe(refused)
      },
    ),
    { numRuns: 100 },
  )
})
