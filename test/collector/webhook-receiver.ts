import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCollector } from './collector.ts'
import { freePort } from './free-port.ts'

export interface WebhookReceiver {
  /** The process id of the collector, for `cpuSeconds`. */
  readonly pid: number
  /** Posts a hook to `/events`. Await the result before the next call: see `WebhookAnswer.traces`. */
  post(body: string, headers: Readonly<Record<string, string>>): Promise<WebhookAnswer>
  stop(): Promise<void>
}

export interface WebhookAnswer {
  /** 200: accepted. 204: nothing to export, as the run has not finished. 400 and 500: refused. */
  status: number
  /** The answer's text; empty if it was accepted. */
  message: string
  /** The raw OTLP/JSON requests that the collector has written since the previous answer. */
  traces: string[]
}

/**
 * Starts a collector with one receiver that converts webhooks to traces, for comparison with our converter.
 *
 * @param receiver the settings of the receiver as YAML, indented by two; they listen on `${env:WEBHOOK_ENDPOINT}`
 */
export async function startWebhookReceiver(
  name: string,
  receiver: string,
  env: Readonly<Record<string, string>> = {},
): Promise<WebhookReceiver> {
  const directory = await mkdtemp(join(tmpdir(), `${name}-receiver-`))
  const tracesFile = join(directory, 'traces.jsonl')
  const address = `127.0.0.1:${await freePort()}`
  const collector = await startCollector({
    config: { yaml: collectorConfig(name, receiver) },
    env: { WEBHOOK_ENDPOINT: address, TRACES_FILE: tracesFile, ...env },
  })
  // The exporter appends to an existing file, so the file can be opened before the collector starts.
  const written = await open(tracesFile, 'a+')
  let readBytes = 0

  async function newTraces(): Promise<string[]> {
    const { size } = await written.stat()
    if (size === readBytes) return []
    const { buffer } = await written.read({ buffer: Buffer.alloc(size - readBytes), position: readBytes })
    readBytes = size
    return buffer.toString('utf8').split('\n').slice(0, -1)
  }

  return {
    pid: collector.pid,
    async post(body, headers) {
      const response = await fetch(`http://${address}/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
      const text = await response.text()
      return { status: response.status, message: response.ok ? '' : text.trim(), traces: await newTraces() }
    },
    async stop() {
      await written.close()
      await collector.stop()
      await rm(directory, { recursive: true })
    },
  }
}

const collectorConfig = (name: string, receiver: string): string => `
receivers:
${receiver}
exporters:
  file:
    path: \${env:TRACES_FILE}
    rotation: # written before the webhook is answered, instead of every second
      max_megabytes: 10000
service:
  pipelines:
    traces:
      receivers: [${name}]
      exporters: [file]
`
