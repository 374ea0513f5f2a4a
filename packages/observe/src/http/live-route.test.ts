import { afterEach, expect, test } from 'vitest'
import { pipelineBody, pipelineTraceId } from '../pipeline.harness.ts'
import { type ServedStoreOptions, StatusError, serveStore } from '../served-store.harness.ts'
import { logBody, logRecord, numberedTrace } from '../telemetry.harness.ts'

let served: Awaited<ReturnType<typeof serveStore>>
const opened: Client[] = []

const start = async (options: ServedStoreOptions = {}) => {
  served = await serveStore({ limits: { pauseMs: 0, heartbeatMs: 50 }, ...options })
}
afterEach(async () => {
  for (const client of opened.splice(0)) client.leave()
  await served.close()
})

interface Event {
  readonly event: string | undefined
  readonly id: string
  readonly data: string | undefined
}

/** A client that collects the blocks of a stream. */
class Client {
  readonly blocks: string[] = []
  hasEnded = false
  readonly #leaving = new AbortController()

  async open(query: string, headers: Record<string, string> = {}): Promise<Response> {
    opened.push(this)
    const response = await fetch(`${served.url}/live?${query}`, { headers, signal: this.#leaving.signal })
    if (response.ok) void this.#read(response).catch(() => {})
    return response
  }

  /** The blocks that set a position; those with data are events. */
  get events(): Event[] {
    return this.blocks.flatMap((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      const id = field('id')
      return id === undefined ? [] : [{ event: field('event'), id, data: field('data') }]
    })
  }

  get items() {
    return this.events.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data)]))
  }

  leave(): void {
    this.#leaving.abort()
  }

  async #read(response: Response): Promise<void> {
    let text = ''
    try {
      for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
        const blocks = (text + part).split('\n\n')
        text = blocks.pop()!
        this.blocks.push(...blocks)
      }
    } finally {
      this.hasEnded = true
    }
  }
}

const follow = async (query: string, headers?: Record<string, string>) => {
  const client = new Client()
  const response = await client.open(query, headers)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  await expect.poll(() => client.events.length).toBeGreaterThan(0)
  return client
}
const keep = async (signal: 'traces' | 'logs', body: Uint8Array) => {
  await served.store.receiveBody(signal, body, 'json')
  served.streams.notify()
}
const names = (client: Client) => client.items.map(({ record }) => record.body.stringValue)

test('sends log records as they arrive, as the list has them', async () => {
  await start()
  await keep('logs', logBody('shop', logRecord(1, 9, 'before')))
  const client = await follow('kind=logs')
  // A record can be older than those that arrived before it.
  await keep('logs', logBody('shop', logRecord(5, 9, 'first')))
  await keep('logs', logBody('shop', logRecord(2, 9, 'second')))
  await expect.poll(() => names(client)).toEqual(['first', 'second'])
  const { json } = await served.get('/logs?limit=1')
  expect(client.items[0]).toEqual(json[0])
  expect(client.events.at(-1)!.event).toBe('log')
})

test('applies the filters of the list', async () => {
  await start()
  const client = await follow('kind=logs&severity=error&q=FIRE&service=shop')
  await keep('logs', logBody('shop', logRecord(1, 9, 'fire'), logRecord(2, 17, 'water'), logRecord(3, 17, 'a fire')))
  await keep('logs', logBody('other', logRecord(4, 17, 'fire')))
  await keep('logs', logBody('shop', logRecord(5, 17, 'Fire again')))
  await expect.poll(() => names(client)).toEqual(['a fire', 'Fire again'])
})

test('resumes after the last event without loss', async () => {
  await start()
  const client = await follow('kind=logs')
  await keep('logs', logBody('shop', logRecord(1, 9, 'one'), logRecord(1, 9, 'two')))
  await expect.poll(() => names(client)).toEqual(['one', 'two'])
  client.leave()
  const [, one] = client.events
  await keep('logs', logBody('shop', ...Array.from({ length: 500 }, (_, index) => logRecord(1, 9, `n${index}`))))
  const next = await follow('kind=logs', { 'Last-Event-ID': one!.id })
  await expect.poll(() => next.items).toHaveLength(501)
  expect(names(next).slice(0, 2)).toEqual(['two', 'n0'])
})

test('sends a run when it arrives, and again when a job of it arrives', async () => {
  await start()
  const client = await follow('kind=pipelines&project=Shop')
  await keep('traces', numberedTrace(1))
  await keep('traces', pipelineBody({ number: 1 }))
  await expect.poll(() => client.items).toMatchObject([{ trace_id: pipelineTraceId(1), jobs: 0 }])
  await keep('traces', pipelineBody({ number: 1, jobs: [{ name: 'unit', start: 0, end: 9, status: 'failed' }] }))
  await expect.poll(() => client.items).toHaveLength(2)
  expect(client.items[1]).toEqual((await served.get('/pipelines')).json[0])
  expect(client.items[1]).toMatchObject({ jobs: 1, failed_jobs: ['unit'] })
  await keep('traces', pipelineBody({ number: 2, attributes: { 'vcs.ref.head.name': 'dev' } }))
  const other = await follow('kind=pipelines&ref=main', { 'Last-Event-ID': client.events[0]!.id })
  const searched = await follow('kind=pipelines&q=DEV', { 'Last-Event-ID': client.events[0]!.id })
  await expect.poll(() => client.items).toHaveLength(3)
  await expect.poll(() => searched.items).toMatchObject([{ ref: 'dev' }])
  expect(other.items).toEqual([])
})

test('sends heartbeats', async () => {
  await start()
  const client = await follow('kind=logs')
  await expect.poll(() => client.blocks.filter((block) => block === ':').length).toBeGreaterThan(1)
  expect(client.blocks[0]).toBe('retry: 3000')
})

test('ends when the caller loses its access, and sends nothing more', async () => {
  let isRevoked = false
  await start({
    enter() {
      if (isRevoked) throw new StatusError(401)
      return 'key'
    },
  })
  const client = await follow('kind=logs')
  isRevoked = true
  await keep('logs', logBody('shop', logRecord(1, 9, 'secret')))
  await expect.poll(() => client.hasEnded).toBe(true)
  expect(client.items).toEqual([])
  expect(served.streams.size).toBe(0)
})

test('limits the streams of a caller and of all, and counts those that are gone no more', async () => {
  await start({
    limits: { maxPerCaller: 2, maxStreams: 3, heartbeatMs: 50, pauseMs: 0 },
    enter: ({ raw }) => String(raw.headers.caller),
  })
  const statusOf = async (caller: string) => (await new Client().open('kind=logs', { caller })).status
  const first = await follow('kind=logs', { caller: 'a' })
  expect(await statusOf('a')).toBe(200)
  expect(await statusOf('a')).toBe(429)
  expect(await statusOf('b')).toBe(200)
  expect(await statusOf('c')).toBe(503)
  first.leave()
  await expect.poll(() => statusOf('c')).toBe(200)
})

test('ends its streams when the server drains, and opens no more', async () => {
  await start()
  const client = await follow('kind=pipelines')
  served.streams.close()
  await expect.poll(() => client.hasEnded).toBe(true)
  expect((await new Client().open('kind=pipelines')).status).toBe(503)
})

test.each(['', 'kind=metrics', 'kind=logs&ref=main', 'kind=pipelines&severity=error', 'kind=logs&since=1'])(
  'refuses %j',
  async (query) => {
    await start()
    expect((await new Client().open(query)).status).toBe(400)
  },
)

test('refuses the position of another list, and opens no stream for HEAD', async () => {
  await start()
  const { events } = await follow('kind=pipelines')
  expect((await new Client().open('kind=logs', { 'Last-Event-ID': events[0]!.id })).status).toBe(400)
  const streams = served.streams.size
  expect((await fetch(`${served.url}/live?kind=logs`, { method: 'HEAD' })).status).toBe(200)
  expect(served.streams.size).toBe(streams)
})
