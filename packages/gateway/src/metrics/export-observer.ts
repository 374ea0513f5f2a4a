import type { Clock } from '@penstock/runtime'
import type { ExportEnding, ExportObserver } from '../contract/export-ending.ts'
import type { Transport } from '../contract/transport.ts'
import type { AccessLog } from './access-log.ts'
import type { GateMetrics } from './gate-metrics.ts'

/**
 * Counts and logs how requests end. Requests that the credential check refused are left out, because the admission
 * controller has counted and logged them with the exact reason.
 */
export function exportObserver(
  transport: Transport,
  metrics: GateMetrics,
  accessLog: AccessLog,
  clock: Pick<Clock, 'monotonicMs'>,
): ExportObserver {
  return {
    clientAborted: () => metrics.clientAborted(transport),
    ended(ending) {
      const { outcome, admissionRequest, admitted, refusedAs } = ending
      if (admissionRequest !== undefined && admitted === undefined) return
      metrics.answered(outcome, transport)
      if (admissionRequest === undefined) return
      if (refusedAs !== undefined) {
        const atMs = clock.monotonicMs()
        accessLog.refused(admissionRequest, refusedAs, admitted?.token?.id, toLogFields(ending, atMs), atMs)
      } else if (accessLog.logsAccepted && outcome === 'success') {
        accessLog.accepted(admissionRequest, admitted?.token?.id, toLogFields(ending, clock.monotonicMs()))
      }
    },
  }
}

const toLogFields = ({ status, wireBytes, sentAtMs, detail }: ExportEnding, nowMs: number) => ({
  status,
  detail,
  bytes: wireBytes,
  upstreamMs: sentAtMs === undefined ? undefined : Math.max(0, nowMs - sentAtMs),
})
