import type { Log } from '@penstock/runtime'
import type { Answer, RefusedCause } from '../contract/answer.ts'
import { clientGone } from '../contract/gateway-answers.ts'
import type { Upstream } from '../contract/upstream.ts'
import { instruments } from './instruments.ts'
import { type Cell, type MetricRegistry, observe } from './registry.ts'

const durationBounds = instruments.otelcol_exporter_request_duration.bounds ?? []

/**
 * Wraps an upstream to count and time its requests (O-11), and to log when it becomes unreachable and reachable again.
 *
 * `steadyMs` is a clock that never goes back. Requests that the caller gave up end in `clientGone`; they count
 * neither as sent nor as failed, and their duration is not recorded.
 */
export function meteredUpstream(
  upstream: Upstream,
  registry: MetricRegistry,
  steadyMs: () => number,
  log: Log,
): Upstream {
  const labels = { upstream: upstream.name }
  const sent = registry.cell('otelcol_exporter_sent_requests', labels)
  const inFlight = registry.cell('otelcol_exporter_in_flight_requests', labels)
  const duration = registry.histogram('otelcol_exporter_request_duration', labels)
  const failed = new Map<RefusedCause, Cell>()
  let wasUnreachable = false

  return {
    name: upstream.name,
    bodyLimitBytes: upstream.bodyLimitBytes,
    close: () => upstream.close(),
    async send(request) {
      const startedMs = steadyMs()
      inFlight.value += 1
      try {
        const answer = await upstream.send(request)
        if (answer !== clientGone) recordAnswer(answer, steadyMs() - startedMs)
        return answer
      } finally {
        inFlight.value -= 1
      }
    },
  }

  function recordAnswer(answer: Answer, tookMs: number): void {
    observe(duration, durationBounds, tookMs / 1000)
    const isUnreachable = answer.kind === 'refused' && answer.cause === 'unreachable'
    if (isUnreachable !== wasUnreachable) {
      wasUnreachable = isUnreachable
      if (wasUnreachable)
        log.warn({ event: 'upstream.unreachable', upstream: upstream.name }, 'an upstream cannot be reached')
      else log.info({ event: 'upstream.reached', upstream: upstream.name }, 'an upstream can be reached again')
    }
    if (answer.kind === 'accepted') sent.value += 1
    else failedCell(answer.cause).value += 1
  }

  function failedCell(cause: RefusedCause): Cell {
    let cell = failed.get(cause)
    if (cell === undefined) {
      cell = registry.cell('otelcol_exporter_send_failed_requests', { ...labels, error_type: cause })
      failed.set(cause, cell)
    }
    return cell
  }
}
