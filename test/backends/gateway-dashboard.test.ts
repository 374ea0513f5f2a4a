import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { accept, startSink } from '../gateway/accepting-sink.ts'
import { exportOnce } from '../gateway/export-client.ts'
import { startGateway } from '../gateway/running-gateway.ts'
import { exportBody } from '../gateway/telemetry.ts'
import { neededBackend } from './backend.ts'
import { interpolated, queriesOf, readDashboard } from './dashboard.ts'
import { startPrometheus } from './prometheus.ts'

/** The requests that are sent within the time range. */
const sent = { accepted: { runners: 24, deploy: 12 }, refused: 10, failed: 6 }
const accepted = sent.accepted.runners + sent.accepted.deploy
const rangeSeconds = 6
const expirySeconds = 3600

/**
 * Accepts figures near another one: Prometheus extrapolates, because a range begins and ends up to one scrape before and after
 * the samples in it.
 */
const about = (figure: number) => expect.closeTo(figure * 1.05, -Math.log10(figure * 0.2))
/** Accepts the figures between two others. */
const between = (low: number, high: number) => expect.closeTo((low + high) / 2, -Math.log10((high - low) * 1.01))

describeWithPrograms('the queries of docs/guides/dashboards/gateway.json', [neededBackend('prometheus')], () => {
  test('return the figures of the requests that were sent', { timeout: 120_000 }, async () => {
    const sink = await startSink(({ headers }) =>
      headers['x-request-tag'] === 'fail' ? { play: 'reply', status: 503 } : accept(),
    )
    const gateway = await startGateway({ PENSTOCK_UPSTREAM: sink.url })
    const runners = await gateway.token({ name: 'runners' })
    const expiresAt = new Date(Date.now() + expirySeconds * 1000).toISOString()
    const deploy = await gateway.token({ name: 'deploy', expires_at: expiresAt })
    await gateway.enforce(true, { grace_seconds: 0 })
    const prometheus = await startPrometheus({ scraped: new URL(gateway.managementUrl).host })
    onTestFinished(() => prometheus.stop())
    const send = async (count: number, token?: string, tag = '') => {
      for (let i = 0; i < count; i += 1) {
        await exportOnce(gateway.otlpPort, 'HTTP protobuf', {
          ...(token !== undefined && { token }),
          headers: { 'x-request-tag': tag },
        })
      }
    }

    // Every series exists before the time range, so that its first point in the range is not the first one of all.
    await send(1, runners.token)
    await send(1, deploy.token)
    await send(1)
    await send(1, runners.token, 'fail')
    // Prometheus begins to scrape some seconds after its start.
    await expect
      .poll(() =>
        prometheus.instant('count_over_time(otelcol_exporter_send_failed_requests[1m]) > 2', Date.now() / 1000),
      )
      .not.toEqual([])
    const startedMs = Date.now()
    // The range begins with a few samples of the figures so far.
    await sleep(1000)
    await send(sent.accepted.runners, runners.token)
    await send(sent.accepted.deploy, deploy.token)
    await send(sent.refused)
    await send(sent.failed, runners.token, 'fail')
    const sentMs = Date.now() - startedMs
    expect(sentMs).toBeLessThan(rangeSeconds * 1000 - 1000)
    await sleep(rangeSeconds * 1000 - sentMs)
    const endSeconds = Date.now() / 1000

    const perSecond = (count: number) => about(count / rangeSeconds)
    const admitted = sent.accepted.runners + sent.failed
    const bytes = exportBody({}, 'protobuf').length
    const expected: Readonly<Record<string, object>> = {
      'Enforcement A': { '': 3 },
      'Valid tokens A': { '': 2 },
      'Age of the tokens in memory A': { '': between(0, 10) },
      'Accepted A': { '': about(accepted) },
      'Refused A': { '': about(sent.refused) },
      'Failed upstream A': { '': about(sent.failed) },
      'Requests by outcome A': {
        success: perSecond(accepted),
        refused: perSecond(sent.refused),
        failure: perSecond(sent.failed),
      },
      'Verdicts on credentials A': {
        allow: perSecond(accepted + sent.failed),
        'reject|missing': perSecond(sent.refused),
      },
      'Requests by token A': { runners: about(admitted), deploy: about(sent.accepted.deploy) },
      'Bytes by token A': { runners: about(admitted * bytes), deploy: about(sent.accepted.deploy * bytes) },
      'Time until tokens expire A': { [deploy.id]: between(expirySeconds - 60, expirySeconds) },
      'Upstream: answers A': { [sink.url]: perSecond(accepted) },
      'Upstream: answers B': { [`throttled|${sink.url}`]: perSecond(sent.failed) },
      'Upstream: time until the answer A': { '': between(0, 1) },
      'Upstream: time until the answer B': { '': between(0, 1) },
      'Bytes in flight A': { http: 0, grpc: 0 },
      'Open connections A': { http: 0 },
      'Client requests per upstream request A': { '': 1 },
    }
    const values = { gateway: '.+', __range: `${rangeSeconds}s`, __rate_interval: `${rangeSeconds}s` }
    const actual: Record<string, object> = {}
    for (const [name, { expr }] of queriesOf(readDashboard('gateway'))) {
      const found = await prometheus.instant(interpolated(expr!, values), endSeconds)
      actual[name] = Object.fromEntries(
        found.map(({ metric, values: [last] }) => [
          Object.entries(metric)
            .filter(([label]) => label !== '__name__')
            .map(([, value]) => value)
            .join('|'),
          Number(last![1]),
        ]),
      )
    }
    expect(actual).toEqual(expected)
  })
})
