import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openDatabase } from '@penstock/db'
import { decodeRequest, type OtlpRequest, type Signal, signalNames } from '@penstock/otlp'
import type { ScriptedServer } from '@penstock/testkit'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { call, dataDirectory, EXPORT, type Service, serve } from '../export/service.ts'
import { signalOf } from '../export/sink.ts'
import { startSink } from '../gateway/accepting-sink.ts'
import { until } from '../gateway/until.ts'
import { compareModels } from './compare-models.ts'
import { type FixtureHooks, fixtureHooks } from './fixture-hooks.ts'
import { itemsByKey } from './items.ts'
import { DifferenceTally, type KnownDifference } from './known-differences.ts'

const SOURCE = 'other-service'
/** The fixtures in which a second project has pipelines with the ids of the first: it needs a source of its own. */
const fixturesWithSharedIds = ['same-ids-on-two-instances', 'two-projects-without-any-url']
const secretToken = 'secret-of-the-other-service'
const signingToken = `whsec_${randomBytes(32).toString('base64')}`

/** A service that sends its hooks to another one. Both export what they have. */
interface Pair {
  readonly first: Service
  readonly group: number
  readonly hooksUrl: string
  /** The backends of the first and of the second service. */
  readonly direct: ScriptedServer
  readonly byHooks: ScriptedServer
  /** Resolves when no delivery is waiting, in either service. */
  idle(): Promise<void>
}

async function startPair(): Promise<Pair> {
  const [direct, byHooks, firstDir, secondDir] = [
    await startSink(),
    await startSink(),
    await dataDirectory(),
    await dataDirectory(),
  ]
  const first = await serve('core', firstDir, {
    PENSTOCK_EXPORT_ENDPOINT: direct.url,
    PENSTOCK_ALLOW_LOCAL_WEBHOOKS: 'true',
  })
  const source = { secretToken, signingToken, signals: signalNames, endpoint: byHooks.url }
  const own = fixturesWithSharedIds.map((name) => [name, { ...source, instanceId: `${first.url}/forge/${name}-1` }])
  const sources = { [SOURCE]: source, ...Object.fromEntries(own) }
  const second = await serve('core', secondDir, { PENSTOCK_SOURCES: JSON.stringify(sources) })
  const databases = [firstDir, secondDir].map((directory) => openDatabase<object>(join(directory, 'core.db')))
  onTestFinished(async () => {
    for (const db of databases) await db.close()
  })
  const { id: group } = await call(first, 'POST', '/groups', { name: 'Forge', path: 'forge' })
  await call(first, 'POST', `/groups/${group}/variables`, { key: EXPORT, value: signalNames.join(',') })
  const isIdle = async () => {
    for (const { read } of databases) {
      const open = await sql`select 1 from deliveries where state = 'open' limit 1`.execute(read)
      if (open.rows.length > 0) return false
    }
    return true
  }
  return {
    first,
    group,
    hooksUrl: `${second.url}/hooks/pipelines`,
    direct,
    byHooks,
    idle: async () => {
      await until('no delivery is waiting', isIdle)
    },
  }
}

/** Creates the projects of a fixture with a hook each. Returns them in the form of hooks. */
async function newProjects({ first, group, hooksUrl }: Pair, { name, projects }: FixtureHooks) {
  const named = new Map<string, { readonly id: number }>()
  for (const [index, key] of projects.entries()) {
    const path = `${name}-${index}`
    const { id, web_url, path_with_namespace } = await call(first, 'POST', '/projects', {
      ...{ name: path, path, namespace_id: group },
    })
    const hasOwnSource = index > 0 && fixturesWithSharedIds.includes(name)
    named.set(key, { ...{ id, name: path, web_url, path_with_namespace } } as { readonly id: number })
    await call(first, 'POST', `/projects/${id}/hooks`, {
      ...{ url: `${hooksUrl}/${hasOwnSource ? name : SOURCE}`, token: secretToken, signing_token: signingToken },
      ...{ push_events: false, pipeline_events: true, job_events: true },
    })
  }
  return named
}

const requestsOf = ({ requests }: ScriptedServer, signal: Signal): OtlpRequest[] =>
  requests
    .filter((request) => signalOf(request) === signal)
    .map((request) => decodeRequest(signal, request.body, 'protobuf'))

/** The fixtures that the core does not record: unreadable jobs, and ids above 2^53. */
const refusedByCore = ['builds-an-object', 'e48-ids-above-two-to-the-53', 'e48-ids-next-to-the-largest-int64']

const beganNs = BigInt(Date.now()) * 1_000_000n

/** Returns the plain value of a difference. */
const plain = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'value' in value ? value.value : value

/** The differences that docs/guides/webhooks.md names. */
const expectedDifferences: readonly KnownDifference[] = [
  {
    id: 'observed time',
    reason: 'each service observes a log record when it receives the pipeline',
    covers: ({ path }) => path === 'item.observedTimeUnixNano',
  },
  {
    id: 'time of receipt',
    reason: 'a pipeline without any time ends when it is received',
    covers: ({ expected, actual }) => isSince(plain(expected)) && isSince(plain(actual)),
  },
  {
    id: 'whole milliseconds',
    reason: 'the core stores milliseconds',
    covers({ expected, actual }) {
      const [given, sent] = [plain(expected), plain(actual)]
      return typeof given === 'bigint' && sent === (given / 1_000_000n) * 1_000_000n
    },
  },
  {
    id: 'null characters',
    reason: 'the core replaces what no database can store, and the export leaves it out',
    covers({ expected, actual }) {
      const [given, sent] = [plain(expected), plain(actual)]
      return typeof sent === 'string' && sent.includes('\ufffd') && given === sent.replaceAll('\ufffd', '')
    },
  },
]

const isSince = (value: unknown): boolean => typeof value === 'bigint' && value > beganNs

test('every fixture arrives through a hook of another service as it does by the direct export', async () => {
  const pair = await startPair()
  const refused: string[] = []
  for (const fixture of fixtureHooks()) {
    const named = await newProjects(pair, fixture)
    for (const { project, pipelineId, bodyFor } of fixture.hooks) {
      const path = `/projects/${named.get(project)!.id}/pipeline_records/${pipelineId}`
      await call(pair.first, 'PUT', path, bodyFor(named)).catch(() => refused.push(fixture.name))
      // Hooks may arrive in any order; the records of a fixture are put one after the other.
      if (fixture.hooks.length > 1) await pair.idle()
    }
  }
  await pair.idle()
  expect(refused).toEqual(refusedByCore)
  const tally = new DifferenceTally(expectedDifferences)
  for (const signal of signalNames) {
    const [expected, actual] = [pair.direct, pair.byHooks].map((sink) => itemsByKey(requestsOf(sink, signal)))
    expect([...expected!.repeated, ...actual!.repeated]).toEqual([])
    expect([...actual!.byKey.keys()].toSorted()).toEqual([...expected!.byKey.keys()].toSorted())
    expect(actual!.byKey.size).toBeGreaterThan(400)
    for (const [key, item] of expected!.byKey) tally.add(key, compareModels(item, actual!.byKey.get(key)))
  }
  expect(tally.unexplained).toEqual([])
  expect(tally.unobserved).toEqual([])
}, 600_000)
