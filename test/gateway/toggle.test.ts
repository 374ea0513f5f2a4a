import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { connect, constants } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Gate } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { startCollector } from '../collector/collector.ts'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { waitForExported } from '../collector/exported-file.ts'
import { CountingSink } from './counting-sink.ts'
import { idOf, numberedBody } from './numbered-body.ts'
import { ProcessGateway } from './process-gateway.ts'
import { startGateway } from './running-gateway.ts'
import { SteadyLoad } from './steady-load.ts'
import { faultsOf, toggleUnderLoad } from './toggling.ts'

test('E-3, T-13: under 500 requests/s, every request sent after a change is decided by it, and none is aborted', async () => {
  await using sink = await CountingSink.start()
  await using gateway = await ProcessGateway.start({ upstream: sink.url })
  const result = await toggleUnderLoad(gateway, { perSecond: 500, toggles: 16, everyMs: 250 })
  console.log(
    `toggle: ${result.withToken.sent + result.without.sent} requests; checked off ${result.checkedOff}, on ${result.checkedOn}; ` +
      `slowest change ${result.slowestChangeMs.toFixed(1)} ms; slowest request ${result.withToken.slowestMs.toFixed(0)} ms`,
  )
  expect(faultsOf(result, sink)).toEqual([])
  expect(result.checkedOn).toBeGreaterThan(100)
  expect(result.checkedOff).toBeGreaterThan(100)
})

test('E-3: a request admitted before the change is answered after it, also with half of its body unsent or a silent upstream', async () => {
  await using sink = await CountingSink.start()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  await gateway.token()
  const upstream = new Gate()
  sink.hold = upstream.opened
  const body = numberedBody(idOf(1))
  const headers = { 'content-type': 'application/x-protobuf' }

  const silent = request(`${gateway.otlpUrl}/v1/traces`, { method: 'POST', headers })
  silent.end(numberedBody(idOf(2)))
  await sink.arrived(idOf(2))
  const half = request(`${gateway.otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { ...headers, expect: '100-continue' },
  })
  half.flushHeaders()
  await once(half, 'continue')
  half.write(body.subarray(0, 10))

  await gateway.enforce(true)
  half.end(body.subarray(10))
  await sink.arrived(idOf(1))
  const answers = Promise.all([silent, half].map((each) => once(each, 'response')))
  upstream.open()
  const statuses = (await answers).map(([response]) => response.resume().statusCode)
  expect(statuses).toEqual([200, 200])
  expect(sink.aborted).toBe(0)
})

test('E-2, E-3: on an open HTTP/2 connection a change applies from the next request', async () => {
  await using sink = await CountingSink.start()
  const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
  await gateway.token()
  const session = connect(gateway.otlpUrl)
  const statusOf = async () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/v1/traces',
      'content-type': 'application/x-protobuf',
    })
    stream.end(numberedBody(idOf(1)))
    const [headers] = await once(stream, 'response')
    stream.resume()
    await once(stream, 'close')
    return headers[constants.HTTP2_HEADER_STATUS]
  }
  const seen = [await statusOf()]
  for (const enabled of [true, false, true, true, false]) {
    await gateway.enforce(enabled)
    seen.push(await statusOf())
  }
  session.close()
  expect(seen).toEqual([200, 401, 200, 401, 401, 200])
})

describeWithCollector('with a collector as upstream', () => {
  test('enforcement is toggled under load; the collector is not restarted and receives every accepted span', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-toggle-'))
    const file = join(directory, 'spans.json')
    const collector = await startCollector({
      config: {
        yaml: JSON.stringify({
          receivers: { otlp: { protocols: { http: { endpoint: '127.0.0.1:0' } } } },
          exporters: { file: { path: file } },
          service: { pipelines: { traces: { receivers: ['otlp'], exporters: ['file'] } } },
        }),
      },
    })
    try {
      await using gateway = await ProcessGateway.start({ upstream: collector.httpEndpoint })
      const { token } = await gateway.token()
      const load = new SteadyLoad({ url: gateway.otlpUrl, perSecond: 100, token, isRetrying: false })
      const without = new SteadyLoad({
        url: gateway.otlpUrl,
        perSecond: 100,
        firstNumber: 10_000_000,
        isRetrying: false,
      })
      for (const enabled of [true, false, true, false, true, false]) {
        await gateway.enforce(enabled)
        const answered = without.answered + 20
        await expect.poll(() => without.answered).toBeGreaterThan(answered)
      }
      const results = [await load.stop(), await without.stop()]
      expect(results[0]!.answers).toEqual({ 200: results[0]!.sent })
      expect(results.map(({ broken }) => broken)).toEqual([[], []])
      const accepted = results.flatMap(({ acceptedIds }) => acceptedIds)
      const lines = await waitForExported(file, 'traces', accepted.length)
      expect(new Set(lines.join('').match(/n\d{8}/g))).toEqual(new Set(accepted))
      expect(() => process.kill(collector.pid, 0)).not.toThrow()
      expect(collector.logs().match(/Everything is ready/g)).toHaveLength(1)
      expect(Object.keys(results[1]!.answers)).toEqual(['200', '401'])
    } finally {
      await collector.stop()
      rmSync(directory, { recursive: true })
    }
  })
})
