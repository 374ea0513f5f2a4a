import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCollector } from './collector.ts'
import { freePort } from './free-port.ts'

export interface GitlabReceiver {
  /** The process id of the collector, for `cpuSeconds`. */
  readonly pid: number
  /** Posts a pipeline event as GitLab does. Await the result before the next call: see `WebhookAnswer.traces`. */
  postPipelineWebhook(body: string): Promise<WebhookAnswer>
  /** Posts the same without the header that names the event, which the receiver refuses before it reads the body. */
  postWithoutEvent(body: string): Promise<WebhookAnswer>
  stop(): Promise<void>
}

export interface WebhookAnswer {
  /** 200: exported. 204: nothing to export, as the pipeline has not finished. 400 and 500: refused. */
  status: number
  /** The reason of a refusal; empty if it was accepted. */
  message: string
  /** The raw OTLP/JSON requests that the collector has written since the previous answer. */
  traces: string[]
}

export interface GitlabReceiverOptions {
  /** Whether commit author, commit message and the user are exported. The receiver leaves them out by default. */
  includeUserAttributes?: boolean
}

/** Time limits and connection handling are not compared, so both are as generous as possible. */
const config = `
receivers:
  gitlab:
    webhook:
      endpoint: \${env:WEBHOOK_ENDPOINT}
      read_timeout: 10s
      write_timeout: 10s
      keep_alives_enabled: true
      include_user_attributes: \${env:INCLUDE_USER_ATTRIBUTES}
exporters:
  file:
    path: \${env:TRACES_FILE}
    rotation: # written before the webhook is answered, instead of every second
      max_megabytes: 10000
service:
  pipelines:
    traces:
      receivers: [gitlab]
      exporters: [file]
`

/** Starts a collector with the gitlab receiver, which converts GitLab webhooks to traces, for comparison with our converter. */
export async function startGitlabReceiver(options: GitlabReceiverOptions = {}): Promise<GitlabReceiver> {
  const directory = await mkdtemp(join(tmpdir(), 'gitlab-receiver-'))
  const tracesFile = join(directory, 'traces.jsonl')
  const address = `127.0.0.1:${await freePort()}`
  const collector = await startCollector({
    config: { yaml: config },
    env: {
      WEBHOOK_ENDPOINT: address,
      TRACES_FILE: tracesFile,
      INCLUDE_USER_ATTRIBUTES: String(options.includeUserAttributes ?? false),
    },
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

  async function post(body: string, headers: Record<string, string>): Promise<WebhookAnswer> {
    const response = await fetch(`http://${address}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    const text = await response.text()
    const message = response.ok ? '' : text === '' ? 'no reason given' : JSON.parse(text)
    return { status: response.status, message, traces: await newTraces() }
  }

  return {
    pid: collector.pid,
    postPipelineWebhook: (body) => post(body, { 'x-gitlab-event': 'Pipeline Hook' }),
    postWithoutEvent: (body) => post(body, {}),
    async stop() {
      await written.close()
      await collector.stop()
      await rm(directory, { recursive: true })
    },
  }
}
