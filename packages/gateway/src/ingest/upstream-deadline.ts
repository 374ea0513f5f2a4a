import type { ExportCall, Transport } from './export-call.ts'

/** How long an upstream may take when the client has not said how long it waits. */
export const upstreamTotalMs: Readonly<Record<Transport, number>> = { http: 30_000, grpc: 10_000 }
/** A client that would wait longer holds our memory no longer than this. */
const LONGEST_MS = 300_000

/** When the answer of upstream comes too late for this client. */
export function upstreamDeadlineMs({ transport, deadlineMs }: ExportCall, nowMs: number): number {
  return deadlineMs === undefined ? nowMs + upstreamTotalMs[transport] : Math.min(deadlineMs, nowMs + LONGEST_MS)
}
