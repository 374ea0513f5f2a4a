import type { ExportCall } from './export-call.ts'
import type { Transport } from './transport.ts'

/** How long upstream may take if the client has not stated a deadline. */
const upstreamTotalMs: Readonly<Record<Transport, number>> = { http: 30_000, grpc: 10_000 }
/** The longest time for which a call may hold memory, even if its client would wait longer. */
const LONGEST_MS = 300_000

/** Returns the time after which the answer of upstream is too late for this call. */
export function upstreamDeadlineMs({ transport, deadlineMs }: ExportCall, nowMs: number): number {
  return deadlineMs === undefined ? nowMs + upstreamTotalMs[transport] : Math.min(deadlineMs, nowMs + LONGEST_MS)
}
