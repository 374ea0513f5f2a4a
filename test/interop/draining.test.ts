import { Gate, ScriptedServer } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../gateway/running-gateway.ts'
import { until } from '../gateway/until.ts'
import { startSdkClients } from './client-process.ts'
import { startCollectorClient } from './collector-client.ts'
import { CountingRelay } from './counting-relay.ts'
import { describeWithClients } from './prepared.ts'
import { stockClients } from './stock-clients.ts'

const exportsOfEach = ['before', 'during', 'after'] as const

describeWithClients('a draining gateway and its replacement', () => {
  test('X-15, P-27: no client has to retry, and each of its exports arrives once', async () => {
    const gate = new Gate()
    const arrived: string[] = []
    const upstream = await ScriptedServer.start(({ body }) => {
      const name = namesOfAll.find((one) => Buffer.from(body).includes(one)) ?? 'something else'
      arrived.push(name)
      return { play: 'reply', status: 200, ...(name.endsWith('during') && { after: gate.opened }) }
    })
    onTestFinished(() => upstream.close())
    const env = { PENSTOCK_UPSTREAM: upstream.url, PENSTOCK_DRAIN_TIMEOUT_MS: '20000' }
    const leaving = await startGateway(env)
    const { token } = await leaving.token()
    await leaving.enforce(true)
    const staying = await startGateway({ ...env, PENSTOCK_DATA_DIR: leaving.dataDir })
    const clients = await startClients(leaving.otlpPort, token)
    const exportAll = (which: string) => Promise.all(clients.map((client) => client.export(which)))
    const hasArrived = (which: string) =>
      until(`the exports ${which}`, () => arrived.filter((name) => name.endsWith(which)).length >= clients.length)

    const before = await exportAll('before')
    await hasArrived('before')
    const underWay = exportAll('during')
    await hasArrived('during')
    const stopped = leaving.stop()
    // Like a load balancer, the relay keeps open connections and sends new ones to the replacement.
    for (const { relay } of clients) relay.targetPort = staying.otlpPort
    gate.open()
    const during = await underWay
    const { exitCode } = await stopped
    const after = await exportAll('after')
    await hasArrived('after')

    const ok = clients.map(() => ({ ok: true, error: '' }))
    expect({ before, during, after }).toEqual({ before: ok, during: ok, after: ok })
    expect(clients.map(({ id, relay }) => [id, relay.exchanges.length])).toEqual(stockClients.map(({ id }) => [id, 3]))
    expect(arrived.toSorted()).toEqual(namesOfAll.toSorted())
    expect(exitCode).toBe(0)
  })
})

const nameOf = (id: string, which: string): string => `${id}/${which}`
const namesOfAll = stockClients.flatMap(({ id }) => exportsOfEach.map((which) => nameOf(id, which)))

/** Starts all clients, each behind its own relay. */
async function startClients(port: number, token: string) {
  const sdks = await startSdkClients()
  const withRelays = await Promise.all(
    stockClients.map(async (client) => ({ ...client, relay: await CountingRelay.start(port) })),
  )
  const collector = await startCollectorClient(
    withRelays
      .filter(({ by }) => by === 'collector')
      .map(({ id, protocol, relay }) => ({ id, protocol, compression: 'none', endpoint: relay.url, token })),
  )
  return withRelays.map(({ id, by, protocol, signal, relay }) => ({
    id,
    relay,
    async export(which: string) {
      const name = nameOf(id, which)
      if (by === 'collector') {
        await collector.export(id, { signal, items: [name] })
        return { ok: true, error: '' }
      }
      const order = { id: name, exporter: id, protocol, signal, endpoint: relay.url, token, name }
      return sdks[by].export({ ...order, compression: 'none', padding: 0, timeoutMs: 20_000, retryMs: 1_000 })
    },
  }))
}
