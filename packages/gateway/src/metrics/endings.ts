import type { Transport } from '../ingest/export-call.ts'
import type { HttpEnding, HttpObserver } from '../ingest/http-exchange.ts'
import type { AccessLog } from './access-log.ts'
import type { GateMetrics } from './gate-metrics.ts'

/**
 * Counts and logs how requests end. Whoever was judged and not admitted is left out: the admitter has counted and logged
 * it, and knows the reason better.
 */
export function endingsOf(
  transport: Transport,
  metrics: GateMetrics,
  accessLog: AccessLog,
  nowMs: () => number,
): HttpObserver {
  return {
    clientAborted: () => metrics.clientAborted(transport),
    ended(ending) {
      const { outcome, presented, admitted, refusedAs } = ending
      if (presented !== undefined && admitted === undefined) return
      metrics.answered(outcome, transport)
      if (presented === undefined) return
      if (refusedAs !== undefined) {
        accessLog.refused(presented, refusedAs, admitted?.token?.id, lineOf(ending), nowMs())
      } else if (accessLog.logsAccepted && outcome === 'success') {
        accessLog.accepted(presented, admitted?.token?.id, lineOf(ending))
      }
    },
  }
}

const lineOf = ({ status, wireBytes }: HttpEnding) => ({
  status,
  bytes: wireBytes,
  upstreamMs: undefined,
  requestId: undefined,
})
