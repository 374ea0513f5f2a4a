import { describe, expect, test } from 'vitest'
import { itemsOf, startSink } from './accepting-sink.ts'
import { clientKinds, exportOnce, okCode } from './export-client.ts'
import { startGateway } from './running-gateway.ts'

async function startThree(env: Record<string, string> = {}) {
  const [common, blue, red] = [await startSink(), await startSink(), await startSink()]
  const gateway = await startGateway({
    PENSTOCK_UPSTREAM: common.url,
    PENSTOCK_TENANT_UPSTREAMS: JSON.stringify({ blue: blue.url, red: red.url }),
    ...env,
  })
  const received = () => [common, blue, red].map(({ requests }) => requests.flatMap(itemsOf))
  return { gateway, received, blue, red }
}

describe.each(clientKinds)('%s', (kind) => {
  test('X-12: each tenant in the map has its own upstream, and the others share the default one', async () => {
    const { gateway, received, blue } = await startThree({ PENSTOCK_TENANT_HEADER: 'true' })
    for (const tenant of ['blue', 'red', 'green', null]) {
      const { token } = await gateway.token({ name: `of ${tenant}`, tenant })
      const options = { token, items: [`of ${tenant}`], headers: { 'x-scope-orgid': 'red' } }
      expect((await exportOnce(gateway.otlpPort, kind, options)).code).toBe(okCode[kind])
    }
    await exportOnce(gateway.otlpPort, kind, { items: ['without a token'], headers: { 'x-scope-orgid': 'red' } })
    expect(received()).toEqual([['of green', 'of null', 'without a token'], ['of blue'], ['of red']])
    expect(blue.requests[0]!.headers['x-scope-orgid']).toBe('blue')
  })

  test('X-12: if so configured, a tenant that is not in the map is forbidden', async () => {
    const { gateway, received } = await startThree({ PENSTOCK_UNKNOWN_TENANT: 'forbidden' })
    const answers: [number, string][] = []
    const ids: string[] = []
    for (const tenant of ['blue', 'green', null]) {
      const { id, token } = await gateway.token({ name: `of ${tenant}`, tenant })
      const { code, message } = await exportOnce(gateway.otlpPort, kind, { token, items: [`of ${tenant}`] })
      answers.push([code, message])
      ids.push(id)
    }
    const forbidden = kind === 'gRPC' ? 7 : 403
    expect(answers).toEqual([
      [okCode[kind], ''],
      [forbidden, `The tenant of the ingest token ${ids[1]} has no upstream.`],
      [forbidden, `The ingest token ${ids[2]} belongs to no tenant.`],
    ])
    expect(received()).toEqual([[], ['of blue'], []])
  })

  test('X-12: a change of the tenant applies from the next request', async () => {
    const { gateway, received } = await startThree()
    const { id, token } = await gateway.token({ tenant: 'blue' })
    await exportOnce(gateway.otlpPort, kind, { token, items: ['first'] })
    await gateway.call('PATCH', `/tokens/${id}`, { tenant: 'red' })
    await exportOnce(gateway.otlpPort, kind, { token, items: ['second'] })
    expect(received()).toEqual([[], ['first'], ['second']])
  })
})
