import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../collector/free-port.ts'
import { type Backend, startBackend } from './backend.ts'

const config = join(import.meta.dirname, '../../collector-config/prometheus-server.yaml')

export type Labels = Readonly<Record<string, string>>

/** A series with its samples: milliseconds since 1970, and the value as text, as the API returns it. */
export interface PrometheusSeries {
  readonly metric: Labels
  readonly values: readonly (readonly [ms: number, value: string])[]
}

export interface Prometheus extends Backend {
  /** The base URL of its OTLP/HTTP receiver. */
  readonly otlpUrl: string
  /** Returns the result of an instant query at a time, in seconds since 1970. */
  instant(query: string, atSeconds: number): Promise<PrometheusSeries[]>
  /** Returns the result of a range query. */
  range(
    query: string,
    range: { startSeconds: number; endSeconds: number; stepSeconds: number },
  ): Promise<PrometheusSeries[]>
  /** Returns the answer to another question of the API, below `/api/v1`. */
  api<T>(path: string, parameters: Readonly<Record<string, string>>): Promise<T>
}

export interface PrometheusStart {
  /** The age of the oldest points, in days, which is longer than that of the published configuration. */
  readonly windowDays?: number
  /** The features that are enabled, instead of those of the published command. */
  readonly features?: string
  /** The address of a gateway that is scraped five times a second, instead of that of the published configuration. */
  readonly scraped?: string
}

/** The features of the command in collector-config/prometheus-server.yaml. */
const publishedFeatures = /--enable-feature=(\S+)/.exec(readFileSync(config, 'utf8'))![1]!

/** Starts Prometheus with the published configuration, except for the limits and addresses that are named. */
export async function startPrometheus(start: PrometheusStart = {}): Promise<Prometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'prometheus-config-'))
  const file = join(directory, 'prometheus.yaml')
  writeFileSync(file, configured(readFileSync(config, 'utf8'), start))
  const address = `127.0.0.1:${await freePort()}`
  const url = `http://${address}`
  const backend = await startBackend('prometheus', {
    args: (data) => [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(data, 'data')}`,
      `--web.listen-address=${address}`,
      '--web.enable-otlp-receiver',
      `--enable-feature=${start.features ?? publishedFeatures}`,
    ],
    readyUrl: `${url}/-/ready`,
  })

  async function api<T>(path: string, parameters: Readonly<Record<string, string>>): Promise<T> {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const answer = (await response.json()) as { status: string; error?: string; data: T }
    if (answer.status !== 'success') throw new Error(`${path} ${parameters.query}: ${answer.error}`)
    return answer.data
  }
  return {
    ...backend,
    otlpUrl: `${url}/api/v1/otlp`,
    api,
    async instant(query, atSeconds) {
      return seriesOf(await api<QueryData>('query', { query, time: String(atSeconds) }))
    },
    async range(query, { startSeconds, endSeconds, stepSeconds }) {
      const times = { start: String(startSeconds), end: String(endSeconds), step: String(stepSeconds) }
      return seriesOf(await api<QueryData>('query_range', { query, ...times }))
    },
    async stop() {
      await backend.stop()
      rmSync(directory, { recursive: true })
    },
  }
}

type Sample = readonly [seconds: number, value: string]

interface QueryData {
  readonly resultType: string
  readonly result: readonly { readonly metric: Labels; readonly value?: Sample; readonly values?: readonly Sample[] }[]
}

function seriesOf({ result }: QueryData): PrometheusSeries[] {
  return result.map(({ metric, value, values }) => ({
    metric,
    values: (values ?? [value!]).map(([seconds, each]) => [Math.round(seconds * 1000), each]),
  }))
}

/** Returns a configuration with other limits and addresses; fails if it has no place for them. */
function configured(published: string, { windowDays, scraped }: PrometheusStart): string {
  let text = published
  const replace = (pattern: RegExp, by: string) => {
    if (!pattern.test(text)) throw new Error(`${config} has no ${pattern}`)
    text = text.replace(pattern, by)
  }
  if (windowDays !== undefined) {
    replace(/out_of_order_time_window: \S+/, `out_of_order_time_window: ${windowDays}d`)
    replace(/time: \S+/, `time: ${windowDays}d`)
  }
  if (scraped === undefined) {
    replace(/^scrape_configs:[\s\S]*$/m, '')
  } else {
    replace(/scrape_interval: \S+/, 'scrape_interval: 200ms')
    replace(/targets: \[\S+\]/, `targets: ['${scraped}']`)
  }
  return text
}
