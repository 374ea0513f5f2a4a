import { distinctNames } from './client-counter.ts'
import type { Client, ClientStatsReport } from './client-stats.ts'

const MAX_CLIENTS = 1_000
const MAX_MINUTES = 24 * 60

/** Merges the reports of several processes into one. */
export function mergeClientStats(reports: readonly ClientStatsReport[]): ClientStatsReport {
  const minutes = new Map<number, { startMs: number; requests: number; wouldReject: number }>()
  const clients = new Map<string, Client>()
  for (const report of reports) {
    for (const { startMs, requests, wouldReject } of report.minutes) {
      const known = minutes.get(startMs)
      minutes.set(startMs, {
        startMs,
        requests: requests + (known?.requests ?? 0),
        wouldReject: wouldReject + (known?.wouldReject ?? 0),
      })
    }
    for (const client of report.clients) {
      const { network, userAgent, signal, transport, reason, tokenId } = client
      const key = JSON.stringify([network, userAgent, signal, transport, reason, tokenId])
      const known = clients.get(key)
      clients.set(key, known === undefined ? client : mergeClients(known, client))
    }
  }
  return {
    minutes: [...minutes.values()].toSorted((a, b) => b.startMs - a.startMs).slice(0, MAX_MINUTES),
    clients: [...clients.values()].toSorted((a, b) => b.count - a.count).slice(0, MAX_CLIENTS),
  }
}

function mergeClients(a: Client, b: Client): Client {
  const [earlier, later] = a.lastSeenMs <= b.lastSeenMs ? [a, b] : [b, a]
  return {
    ...later,
    serviceNames: distinctNames([...later.serviceNames, ...earlier.serviceNames]),
    firstSeenMs: Math.min(a.firstSeenMs, b.firstSeenMs),
    count: a.count + b.count,
  }
}
