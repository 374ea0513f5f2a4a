import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ProbedService, secrets } from './probed-service.ts'

/** The answers that are not read. Each client has an address of its own, so that no limit on an address applies. */
const ANSWERS = 50
const MIB = 1024 * 1024
const MAX_WAIT_MS = 120_000
/** How long the answers stay unread after the last one has begun, and how often the memory is looked at. */
const SETTLE_MS = 1_000
const SAMPLE_MS = 20

/** An answer of several megabytes. */
export interface UnreadAnswer {
  readonly what: string
  readonly url: (service: ProbedService) => string
  readonly headers: Readonly<Record<string, string>>
  /** A body makes it a POST. */
  readonly body?: string
}

export interface UnreadMeasurement {
  readonly statuses: ReadonlySet<number>
  readonly grownMib: number
  readonly turnMs: number
}

const query = '{ project(fullPath: "root/turns") { issues(first: 4) { nodes { description } } } }'

export const unreadAnswers = (project: number): readonly UnreadAnswer[] => [
  {
    what: 'REST: issues',
    url: ({ coreUrl }) =>
      `${coreUrl}/api/v4/projects/${project}/issues?per_page=100&pagination=keyset&order_by=created_at`,
    headers: { 'PRIVATE-TOKEN': secrets.rootToken },
  },
  {
    what: 'GraphQL: descriptions of issues',
    url: ({ coreUrl }) => `${coreUrl}/api/graphql`,
    headers: { Authorization: `Bearer ${secrets.rootToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  },
  {
    what: 'Observe: log records',
    url: ({ managementUrl }) => `${managementUrl}/api/v1/observe/logs?limit=1000`,
    headers: { 'OBS-API-KEY': secrets.apiKey },
  },
]

/** Stores log records of which a page is as long as an answer may be. */
export async function storeLongLogs({ otlpUrl }: ProbedService): Promise<void> {
  const record = { timeUnixNano: String(Date.now() * 1_000_000), body: { stringValue: '"'.repeat(200_000) } }
  const logRecords = Array.from({ length: 40 }, () => record)
  const response = await fetch(`${otlpUrl}/v1/logs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
  })
  if (!response.ok) throw new Error(`the log records: ${response.status} ${await response.text()}`)
}

/** Asks for an answer many times at once without reading it, and returns by how much the memory of the service grows. */
export async function measureUnread(service: ProbedService, row: UnreadAnswer): Promise<UnreadMeasurement> {
  // The first answer starts what the service starts when it is first used.
  await openUnread(service, row, 1).then(({ close }) => close())
  const before = await service.residentBytes()
  let most = before
  let statuses = new Set<number>()
  const turnMs = await service.longestTurnMs(async () => {
    const sampling = new AbortController()
    const sampled = (async () => {
      while (!sampling.signal.aborted) {
        most = Math.max(most, await service.residentBytes())
        await sleep(SAMPLE_MS)
      }
    })()
    const opened = await openUnread(service, row, ANSWERS)
    await sleep(SETTLE_MS)
    sampling.abort()
    await sampled
    statuses = opened.statuses
    opened.close()
  })
  return { statuses, grownMib: (most - before) / MIB, turnMs }
}

/** Sends requests, and resolves when each has begun to answer or was cut off. */
async function openUnread(service: ProbedService, { url, headers, body }: UnreadAnswer, count: number) {
  const statuses = new Set<number>()
  const sent = Array.from({ length: count }, (_, index) => {
    const outgoing = request(url(service), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
      agent: false,
      localAddress: `127.0.1.${index + 1}`,
      timeout: MAX_WAIT_MS,
    })
    const begun = new Promise<void>((resolve) => {
      outgoing.once('response', (response) => {
        statuses.add(response.statusCode!)
        response.on('error', () => {})
        resolve()
      })
      outgoing.on('error', () => resolve())
      outgoing.once('timeout', () => outgoing.destroy())
    })
    outgoing.end(body)
    return { begun, close: () => outgoing.destroy() }
  })
  await Promise.all(sent.map(({ begun }) => begun))
  return {
    statuses,
    close() {
      for (const { close } of sent) close()
    },
  }
}
