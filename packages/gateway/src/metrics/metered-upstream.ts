import type { Upstream, UpstreamRequest } from '../upstream/upstream.ts'
import { instruments } from './instruments.ts'
import { type MetricRegistry, observe } from './registry.ts'

const durationBounds = instruments.otelcol_exporter_request_duration.bounds ?? []

/**
 * The same upstream, counted and timed.
 *
 * `steadyMs` is a clock that never goes back. Requests that the caller gave up are neither sent nor failed.
 *
 * @see spec/otlp-gateway.md 8 (O-11)
 */
export function meteredUpstream(upstream: Upstream, registry: MetricRegistry, steadyMs: () => number): Upstream {
  const labels = { upstream: upstream.name }
  const sent = registry.cell('otelcol_exporter_sent_requests', labels)
  const inFlight = registry.cell('otelcol_exporter_in_flight_requests', labels)
  const duration = registry.histogram('otelcol_exporter_request_duration', labels)

  return {
    name: upstream.name,
    bodyLimitBytes: upstream.bodyLimitBytes,
    close: () => upstream.close(),
    async send(request) {
      const startedMs = steadyMs()
      let gaveUp = false
      inFlight.value += 1
      try {
        const answer = await upstream.send(
          noticingAbort(request, () => {
            gaveUp = true
          }),
        )
        if (gaveUp) return answer
        observe(duration, durationBounds, (steadyMs() - startedMs) / 1000)
        if (answer.kind === 'accepted') sent.value += 1
        else registry.cell('otelcol_exporter_send_failed_requests', { ...labels, error_type: answer.cause }).value += 1
        return answer
      } finally {
        inFlight.value -= 1
      }
    },
  }
}

function noticingAbort(request: UpstreamRequest, onAbort: () => void): UpstreamRequest {
  const { onAbortable } = request
  if (onAbortable === undefined) return request
  return {
    ...request,
    onAbortable: (abort) =>
      onAbortable(() => {
        onAbort()
        abort()
      }),
  }
}
