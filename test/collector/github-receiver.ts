import { createHmac } from 'node:crypto'
import { startWebhookReceiver, type WebhookAnswer, type WebhookReceiver } from './webhook-receiver.ts'

export interface GithubReceiver extends Pick<WebhookReceiver, 'stop'> {
  /** Posts a hook as GitHub does, signed. Await the result before the next call: see `WebhookAnswer.traces`. */
  postHook(event: 'workflow_run' | 'workflow_job', body: string, secret?: string): Promise<WebhookAnswer>
}

const SECRET = 'the-secret-of-this-hook'

/** The receiver does not start without a scraper. It never runs, because no pipeline for metrics uses the receiver. */
const settings = `
  github:
    webhook:
      endpoint: \${env:WEBHOOK_ENDPOINT}
      path: /events
      health_path: /health
      secret: ${SECRET}
      read_timeout: 10s
      write_timeout: 10s
    scrapers:
      scraper:
        github_org: unused`

/** Starts a collector with the github receiver, which converts hooks of GitHub Actions to traces. */
export async function startGithubReceiver(): Promise<GithubReceiver> {
  const receiver = await startWebhookReceiver('github', settings)
  return {
    postHook: (event, body, secret = SECRET) =>
      receiver.post(body, {
        'x-github-event': event,
        'x-github-delivery': '4f3c8a10-0000-11f0-8000-000000000001',
        'x-github-hook-id': '1',
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      }),
    stop: () => receiver.stop(),
  }
}
