import { startWebhookReceiver, type WebhookAnswer, type WebhookReceiver } from './webhook-receiver.ts'

export interface GitlabReceiver extends Pick<WebhookReceiver, 'pid' | 'stop'> {
  /** Posts a pipeline event as GitLab does. Await the result before the next call: see `WebhookAnswer.traces`. */
  postPipelineWebhook(body: string): Promise<WebhookAnswer>
  /** Posts the same without the header that names the event, which the receiver refuses before it reads the body. */
  postWithoutEvent(body: string): Promise<WebhookAnswer>
}

export interface GitlabReceiverOptions {
  /** Whether commit author, commit message and the user are exported. The receiver leaves them out by default. */
  includeUserAttributes?: boolean
}

/** Time limits and connection handling are not compared, so both are as generous as possible. */
const settings = `
  gitlab:
    webhook:
      endpoint: \${env:WEBHOOK_ENDPOINT}
      read_timeout: 10s
      write_timeout: 10s
      keep_alives_enabled: true
      include_user_attributes: \${env:INCLUDE_USER_ATTRIBUTES}`

/** Starts a collector with the gitlab receiver, which converts GitLab webhooks to traces, for comparison with our converter. */
export async function startGitlabReceiver(options: GitlabReceiverOptions = {}): Promise<GitlabReceiver> {
  const receiver = await startWebhookReceiver('gitlab', settings, {
    INCLUDE_USER_ATTRIBUTES: String(options.includeUserAttributes ?? false),
  })
  async function post(body: string, headers: Record<string, string>): Promise<WebhookAnswer> {
    const answer = await receiver.post(body, headers)
    if (answer.status < 400) return answer
    return { ...answer, message: answer.message === '' ? 'no reason given' : JSON.parse(answer.message) }
  }
  return {
    pid: receiver.pid,
    postPipelineWebhook: (body) => post(body, { 'x-gitlab-event': 'Pipeline Hook' }),
    postWithoutEvent: (body) => post(body, {}),
    stop: () => receiver.stop(),
  }
}
