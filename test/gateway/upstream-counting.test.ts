import { encodeExportResponse } from '@penstock/otlp'
import type { RecordedRequest, ScriptedReply } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accept, itemsOf, startSink } from './accepting-sink.ts'
import { clientKinds, type ExportReply, exportOnce, exportWith, grpcClient } from './export-client.ts'
import { startGateway } from './running-gateway.ts'

const protobuf = { 'content-type': 'application/x-protobuf' }
const steps = [
  ...['accept', 'accept', 'accept', 'accept', 'partial', 'refuse', 'fail', 'busy', 'quota'],
  ...['page', 'reset', 'reply lost'],
] as const
type Step = (typeof steps)[number]

/** A backend that follows a script and records what it accepted. */
class Backend {
  readonly accepted: string[] = []
  /** Items that were accepted although the reply was lost. */
  readonly withLostReply = new Set<string>()
  rejected = 0
  readonly #script: readonly Step[]
  #at = 0

  constructor(script: readonly Step[]) {
    this.#script = script
  }

  reply(request: RecordedRequest): ScriptedReply {
    const step = this.#script[this.#at++ % this.#script.length]!
    const items = itemsOf(request)
    // Every backend refuses this body, alone or among others.
    if (items.includes('poison')) return { play: 'reply', status: 400 }
    switch (step) {
      case 'accept':
        this.accepted.push(...items)
        return accept()
      case 'partial': {
        this.accepted.push(...items.slice(1))
        this.rejected += 1
        const body = encodeExportResponse('traces', { rejected: 1n, message: 'one is too old' }, 'protobuf')
        return { play: 'reply', status: 200, headers: protobuf, body }
      }
      case 'reply lost':
        this.accepted.push(...items)
        for (const item of items) this.withLostReply.add(item)
        return { play: 'reset', status: 200, body: 'x' }
      case 'refuse':
        return { play: 'reply', status: 400 }
      case 'fail':
        return { play: 'reply', status: 500 }
      case 'busy':
        return { play: 'reply', status: 503, headers: { 'retry-after': '1' } }
      case 'quota':
        return { play: 'reply', status: 429, headers: { 'retry-after': '1' } }
      case 'page':
        return { play: 'reply', status: 502, headers: { 'content-type': 'text/html' }, body: '<html>' }
      case 'reset':
        return { play: 'reset' }
    }
  }
}

interface Sent {
  readonly items: readonly string[]
  readonly reply: ExportReply
}

test.each(['true', 'false'])(
  'no rejected item is acknowledged, and no accepted one is denied unless the reply was lost (coalescing: %s)',
  async (coalesce) => {
    let backend = new Backend(['accept'])
    const sink = await startSink((request) => backend.reply(request))
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url, PENSTOCK_COALESCE: coalesce })
    await gateway.enforce(true)
    const client = grpcClient(gateway.otlpPort)
    let run = 0
    const scripts = fc.array(fc.constantFrom(...steps), { minLength: 3, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(scripts, fc.array(fc.nat(7), { minLength: 40, maxLength: 40 }), async (script, shapes) => {
        run += 1
        backend = new Backend(script)
        // Each run has its own token, because an earlier script may have closed or slowed down the lane of its token.
        const { token } = await gateway.token({ name: `run ${run}` })
        const sent = await Promise.all(
          shapes.map(async (shape, index): Promise<Sent> => {
            const items = shape === 7 ? ['poison'] : [`${run}/${index}/a`, `${run}/${index}/b`]
            const kind = clientKinds[shape % 3]!
            const options = { token, items, gzip: shape > 3 && kind !== 'gRPC' }
            const reply =
              kind === 'gRPC' ? await exportWith(client, options) : await exportOnce(gateway.otlpPort, kind, options)
            return { items, reply }
          }),
        )
        const acknowledged = sent.filter(({ reply }) => reply.code === 200 || reply.code === 0)
        const rejected = acknowledged.reduce((sum, { reply }) => sum + Number(reply.partial?.rejected ?? 0n), 0)
        const items = acknowledged.flatMap((one) => one.items)
        expect(items).not.toContain('poison')
        // Each record arrived at most once, and as many as the clients count.
        const acknowledgedItems = backend.accepted.filter((item) => !backend.withLostReply.has(item))
        expect(new Set(backend.accepted).size).toBe(backend.accepted.length)
        expect(rejected).toBe(backend.rejected)
        expect(items.length - rejected).toBe(acknowledgedItems.length)
        const known = new Set(items)
        expect(acknowledgedItems.filter((item) => !known.has(item))).toEqual([])
        // Other answers have a reason that the upstream gave, or are retryable.
        const codes = new Set(sent.map(({ reply: { code } }) => code))
        for (const code of codes) expect([200, 0, 400, 3, 500, 2, 502, 503, 14, 429]).toContain(code)
      }),
      { numRuns: 25 },
    )
    client.close()
    const joined = sink.requests.filter((request) => itemsOf(request).length > 2)
    if (coalesce === 'true') expect(joined.length).toBeGreaterThan(0)
    else expect(joined).toHaveLength(0)
  },
)
