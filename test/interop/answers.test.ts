import { Gate, ScriptedServer } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../gateway/running-gateway.ts'
import { until } from '../gateway/until.ts'
import { type ExportOutcome, type SdkClient, startSdkClients } from './client-process.ts'
import { type CollectorExporter, componentOf, startCollectorClient } from './collector-client.ts'
import { CountingRelay, type Exchange } from './counting-relay.ts'
import { describeWithClients } from './prepared.ts'
import { type Situation, situations, type World } from './situations.ts'
import { type StockClient, stockClients } from './stock-clients.ts'

const deadlineMs = 60_000

/** One client in one situation, about to export. */
interface Trial {
  readonly situation: Situation
  readonly client: StockClient
  readonly relay: CountingRelay
  readonly token: string | undefined
  /** The name of its only exported item. */
  readonly name: string
}

interface Stage {
  readonly trials: readonly Trial[]
  /** Starts the situation. Call the returned function when each trial has had its first answer. */
  readonly begin: () => Promise<(() => Promise<void>) | undefined>
  readonly accepted: (name: string) => number
}

describeWithClients('reactions of stock clients to our answers', () => {
  test('P-27: retryable exports are retried within twice the interval and arrive, all others are dropped', async () => {
    const stages = await Promise.all(situations.map(setUp))
    const observed = await observeAll(stages)
    expect(observed).toEqual(Object.fromEntries(situations.map((situation) => [situation.row, expectedOf(situation)])))
  })
})

function expectedOf({ retryable, otherwise = {}, http, grpc }: Situation): Record<string, string> {
  return Object.fromEntries(
    stockClients.map(({ id, protocol, retryMs }) => {
      const behaviour = retryable && retryMs !== 'never' ? 'retries' : 'drops'
      return [id, `${protocol === 'grpc' ? grpc : http}: ${otherwise[id] ?? behaviour}`]
    }),
  )
}

async function setUp(situation: Situation): Promise<Stage> {
  const { firstReply, begin, credential, clock } = situation
  const names = stockClients.map(({ id }) => `${situation.id}/${id}/once`)
  const asked = new Map<string, number>()
  const accepted: string[] = []
  let held = Promise.resolve()
  const largeArrived = new Gate()
  const upstream = await ScriptedServer.start(({ body }) => {
    const name = names.find((one) => Buffer.from(body).includes(one)) ?? ''
    const isFirst = name !== '' && !asked.has(name)
    asked.set(name, (asked.get(name) ?? 0) + 1)
    if (isFirst && firstReply !== undefined) return firstReply
    accepted.push(name)
    if (body.length <= 100_000) return { play: 'reply', status: 200 }
    largeArrived.open()
    return { play: 'reply', status: 200, after: held }
  })
  onTestFinished(() => upstream.close())
  const env = { PENSTOCK_UPSTREAM: upstream.url, PENSTOCK_DRAIN_TIMEOUT_MS: '0', ...(await situation.env?.()) }
  const gateway = await startGateway(env, clock && { clock })
  // With a valid token, enforcement stays on even if the others are revoked.
  await gateway.token({ name: 'unused' })
  const tokens: string[] = []
  for (const { id } of stockClients) {
    const made = await gateway.token({ name: id, ...situation.token })
    if (credential === 'revoked') await gateway.call('DELETE', `/tokens/${made.id}`)
    tokens.push(made.token)
  }
  await gateway.enforce(true)
  const world: World = {
    gateway,
    tokens,
    async send(token, bytes) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
      const response = await fetch(`${gateway.otlpUrl}/v1/logs`, { method: 'POST', headers, body: ' '.repeat(bytes) })
      await response.arrayBuffer()
      return response.status
    },
    hold: (until) => {
      held = until
      return largeArrived.opened
    },
  }
  const presented = { none: () => undefined, unknown: unknownToken, revoked: (token: string) => token }
  const trials = stockClients.map(async (client, index) => ({
    situation,
    client,
    relay: await CountingRelay.start(gateway.otlpPort),
    token: credential === undefined ? tokens[index] : presented[credential](tokens[index]!),
    name: names[index]!,
  }))
  return {
    trials: await Promise.all(trials),
    begin: async () => begin?.(world),
    accepted: (name) => accepted.filter((one) => one === name).length,
  }
}

/** Returns a token with a wrong checksum, so that it equals no other token. */
const unknownToken = (token: string): string => `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`

/** The end of an export, as reported by its client or else as observed. */
type End = ExportOutcome | 'retried'

async function observeAll(stages: readonly Stage[]): Promise<Record<string, Record<string, string>>> {
  const sdks = await startSdkClients()
  const collector = await startCollectorExporters(stages.flatMap(({ trials }) => trials))
  const ends = await Promise.all(
    stages.map(async ({ trials, begin, accepted }) => {
      const finish = await begin()
      const looks = trials.map((trial) =>
        trial.client.by === 'collector' ? collector(trial, accepted) : exportBySdk(sdks[trial.client.by], trial),
      )
      await Promise.all(trials.map(firstRequestEnded))
      await finish?.()
      return Promise.all(trials.map((trial, index) => endOf(trial, looks[index]!)))
    }),
  )
  // The result is read long after most exports have ended, so a client that dropped its data has not retried since.
  const rows = stages.map(({ trials, accepted }, row) => [
    trials[0]!.situation.row,
    Object.fromEntries(
      trials.map((trial, column) => [trial.client.id, observation(trial, ends[row]![column]!, accepted(trial.name))]),
    ),
  ])
  return Object.fromEntries(rows)
}

async function firstRequestEnded({ relay, name }: Trial): Promise<void> {
  const hasEnded = () => relay.exchanges[0]?.endedMs !== undefined
  await until(`the first request of ${name} has ended`, hasEnded, deadlineMs)
}

function endOf({ situation, relay, name }: Trial, look: () => End | undefined): Promise<End> {
  const isRetried = () => (situation.isEndless && relay.exchanges.length > 1 ? 'retried' : undefined)
  return until(`${name} has ended`, () => look() ?? isRetried(), deadlineMs)
}

function exportBySdk(sdk: SdkClient, { situation, client, relay, token, name }: Trial): () => End | undefined {
  const { protocol, signal, retryMs } = client
  let end: End | undefined
  const order = { id: name, exporter: name, protocol, signal, endpoint: relay.url, token, name } as const
  const settings = {
    compression: 'none',
    padding: situation.padding ?? 0,
    timeoutMs: timeoutMs(situation, protocol),
  } as const
  void sdk.export({ ...order, ...settings, retryMs: retryMs === 'never' ? 0 : retryMs }).then((outcome) => {
    end = outcome
  })
  return () => end
}

const timeoutMs = ({ timeoutMs: own }: Situation, protocol: string): number =>
  own?.[protocol === 'grpc' ? 'grpc' : 'http'] ?? 10_000

/** Starts all exporters in one collector. Its log contains dropped exports, but not delivered ones. */
async function startCollectorExporters(
  trials: readonly Trial[],
): Promise<(trial: Trial, accepted: Stage['accepted']) => () => End | undefined> {
  const exporterOf = ({ situation, client, relay, token }: Trial): CollectorExporter => ({
    id: `${situation.id}-${client.id}`,
    protocol: client.protocol,
    compression: 'none',
    endpoint: relay.url,
    token,
    timeoutMs: timeoutMs(situation, client.protocol),
    retryMs: client.retryMs as number,
  })
  const mine = trials.filter(({ client }) => client.by === 'collector')
  const { collector, export: exportBy } = await startCollectorClient(mine.map(exporterOf))
  return (trial, accepted) => {
    const { name, situation, client } = trial
    const exporter = exporterOf(trial)
    const attributes = { padding: 'x'.repeat(situation.padding ?? 0) }
    let failure: string | undefined
    exportBy(exporter.id, { signal: client.signal, items: [name], attributes }).catch((error) => {
      failure = error.message
    })
    return () => {
      if (accepted(name) > 0) return { ok: true, error: '' }
      const lines = collector
        .logs()
        .split('\n')
        .filter((line) => line.includes(`"${componentOf(exporter)}"`))
      const dropping = failure ?? lines.find((line) => line.includes('Dropping data'))
      return dropping === undefined ? undefined : { ok: false, error: dropping }
    }
  }
}

/** Returns the answer, from HTTP or from the error of a gRPC client, and the behaviour of the client. */
function observation(trial: Trial, outcome: End, accepted: number): string {
  const { situation, client, relay } = trial
  const [first, second] = relay.exchanges
  const code = client.protocol === 'grpc' ? (reportedCode(outcome) ?? situation.grpc) : first?.status
  return `${code}: ${behaviour(first!, second, trial, outcome, accepted)}`
}

function behaviour(
  first: Exchange,
  second: Exchange | undefined,
  { situation, client }: Trial,
  outcome: End,
  accepted: number,
): string {
  if (second === undefined) {
    if (outcome === 'retried' || outcome.ok || accepted > 0) return 'succeeded on the first attempt'
    return 'drops'
  }
  const waitedMs = second.askedMs - first.endedMs!
  const requestedSeconds = client.protocol === 'grpc' ? (situation.grpcWaitSeconds ?? 2) : (first.retryAfter ?? 0)
  const requestedMs = client.honoursRetryAfter && situation.retryable ? requestedSeconds * 1_000 : 0
  const latestMs = 2 * Math.max(client.retryMs as number, requestedMs)
  if (waitedMs > latestMs) return `retries after ${Math.round(waitedMs)} ms, not ${latestMs}`
  // Clients measure from slightly before or after our time, in milliseconds.
  if (client.protocol !== 'grpc' && waitedMs < requestedMs - 20)
    return `retries after ${Math.round(waitedMs)} ms, requested ${requestedMs}`
  if (outcome === 'retried') return 'retries'
  if (!outcome.ok) return accepted === 0 ? 'retries in vain' : `failed although the data arrived: ${outcome.error}`
  return accepted === 1 ? 'retries' : `arrived ${accepted} times`
}

const grpcNames: Readonly<Record<string, number>> = {
  DEADLINE_EXCEEDED: 4,
  DeadlineExceeded: 4,
  PERMISSION_DENIED: 7,
  PermissionDenied: 7,
  RESOURCE_EXHAUSTED: 8,
  ResourceExhausted: 8,
  UNAVAILABLE: 14,
  Unavailable: 14,
  UNAUTHENTICATED: 16,
  Unauthenticated: 16,
}

/** Returns the gRPC code in the error of a client; `undefined` if the export did not fail. */
function reportedCode(outcome: End): number | undefined {
  if (typeof outcome === 'string' || outcome.ok) return undefined
  const word = Object.keys(grpcNames).find((name) => outcome.error.includes(name))
  return word === undefined ? Number.NaN : grpcNames[word]
}
