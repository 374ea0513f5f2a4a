import { expect, test } from 'vitest'
import { onBothPaths } from '../ingest/both-paths.harness.ts'
import { frame } from '../wire/grpc-wire.ts'
import { raw, start as startFront } from './grpc-front.harness.ts'
import { END_STREAM, exportHeaders, FrameType } from './grpc-raw-client.harness.ts'

async function start(options?: Parameters<typeof startFront>[0]) {
  const harness = await startFront(options)
  harness.ingest.admission = { admitted: false, refusal: { kind: 'unauthenticated', message: 'no' } }
  return harness
}

const check = { path: '/grpc.health.v1.Health/Check' }
const asking = (service: string) => Buffer.concat([Uint8Array.of(0x0a, service.length), Buffer.from(service)])

onBothPaths(() => {
  test.each([
    '',
    'grpc.health.v1.Health',
    'opentelemetry.proto.collector.trace.v1.TraceService',
    'opentelemetry.proto.collector.metrics.v1.MetricsService',
    'opentelemetry.proto.collector.logs.v1.LogsService',
    'opentelemetry.proto.collector.profiles.v1development.ProfilesService',
  ])('X-14: answers Check of "%s" without a token while serving and draining', async (service) => {
    const { client, health } = await start()
    expect(await client.unary(asking(service), check)).toMatchObject({ code: 0, message: Buffer.from('0801', 'hex') })
    health.setServing(false)
    expect(await client.unary(asking(service), check)).toMatchObject({ code: 0, message: Buffer.from('0802', 'hex') })
  })

  test('X-14: an empty request asks for the server as a whole', async () => {
    const { client } = await start()
    expect(await client.unary(Buffer.alloc(0), check)).toMatchObject({ message: Buffer.from('0801', 'hex') })
  })

  test.each([
    ['an unknown service', asking('some.Service'), 5],
    ['a name that is too long', Buffer.concat([Buffer.from('0ac801', 'hex'), Buffer.alloc(200, 'x')]), 5],
    ['a message that is not a HealthCheckRequest', Buffer.from('ffff', 'hex'), 3],
    ['a message that is too long', Buffer.alloc(5_000), 3],
  ])('X-14: refuses Check of %s', async (_, message, code) => {
    const { client } = await start()
    expect(await client.unary(message, check)).toMatchObject({ code })
  })

  test('X-14: answers an error while draining, if configured', async () => {
    const { client, health } = await start({ health: { notServingIsError: true } })
    expect(await client.unary(Buffer.alloc(0), check)).toMatchObject({ code: 0 })
    health.setServing(false)
    expect(await client.unary(Buffer.alloc(0), check)).toMatchObject({ code: 14 })
  })

  test('X-14: lists all services', async () => {
    const { client } = await start()
    const { code, message } = await client.unary(Buffer.alloc(0), { path: '/grpc.health.v1.Health/List' })
    expect(code).toBe(0)
    // The first of six entries is { key: '', value: { status: SERVING } }.
    expect(message!.subarray(0, 8).toString('hex')).toBe('0a060a0012020801')
    expect(message!.toString('hex').match(/12020801/g)).toHaveLength(6)
  })

  test.each([
    ['', 1, 2],
    ['some.Service', 3, undefined],
  ])('X-14: a watcher of "%s" receives %i, then %s, and code 14 at the end', async (service, first, then) => {
    const harness = await start()
    const client = await raw(harness)
    client.headers(1, { ...exportHeaders, ':path': '/grpc.health.v1.Health/Watch' })
    client.data(1, frame(asking(service), false), true)
    const statuses = () =>
      client
        .of(1)
        .filter(({ type, payload }) => type === FrameType.DATA && payload.length > 0)
        .map(({ payload }) => payload.at(-1))
    await client.until(() => statuses().length === 1)
    harness.health.setServing(false)
    if (then !== undefined) await client.until(() => statuses().length === 2)
    harness.health.endWatches()
    await client.until(() => client.of(1).some(({ type, flags }) => type === FrameType.HEADERS && flags & END_STREAM))
    expect(statuses()).toEqual(then === undefined ? [first] : [first, then])
  })

  test('answers health checks beyond the connection limit, and refuses exports as retryable', async () => {
    const { client, ingest } = await start({ settings: { maxConnections: 0 } })
    expect(await client.unary(Buffer.alloc(0), check)).toMatchObject({ code: 0, message: Buffer.from('0801', 'hex') })
    const { client: exporter } = await start({ settings: { maxConnections: 0 } })
    expect(await exporter.unary(Buffer.from('body'))).toMatchObject({ code: 14 })
    expect(ingest.admissionRequests).toHaveLength(0)
  })
})
