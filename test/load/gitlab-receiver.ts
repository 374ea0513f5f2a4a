import { collectorBinary } from '../collector/collector.ts'
import { type GitlabReceiver, startGitlabReceiver } from '../collector/gitlab-receiver.ts'
import { cpuSeconds } from '../collector/process-cpu.ts'
import type { WebhookAnswer } from '../collector/webhook-receiver.ts'
import { printTable, timeInTurns } from './measure.ts'
import { pipelineHook } from './payloads.ts'

const HOOKS = 3_000

/**
 * Measures the CPU time per pipeline of the Go receiver with the payload of our benchmark, for traces only.
 *
 * The receiver answers over HTTP and writes a file; our converter does neither. Two rows show this part of its figure: hooks
 * that it refuses before it reads their body (only HTTP), and hooks of a running pipeline, which it parses and then drops.
 * Our figure includes parsing the JSON.
 */
export async function compareWithGitlabReceiver(convertHook: (json: string) => number): Promise<void> {
  if (collectorBinary() === undefined) {
    console.log('\nGo gitlabreceiver: not measured, the collector is not built (npm run collector)')
    return
  }
  const hook = pipelineHook(34, 20)
  const json = JSON.stringify(hook)
  const running = JSON.stringify({
    ...hook,
    object_attributes: {
      ...(hook as { object_attributes: object }).object_attributes,
      status: 'running',
      finished_at: null,
    },
  })
  const receiver = await startGitlabReceiver({ includeUserAttributes: true })
  try {
    await cpuMicrosPerHook(
      receiver,
      accepted(() => receiver.postPipelineWebhook(json)),
      200,
    )
    const refused = await cpuMicrosPerHook(receiver, () => receiver.postWithoutEvent(json), HOOKS)
    const dropped = await cpuMicrosPerHook(
      receiver,
      accepted(() => receiver.postPipelineWebhook(running)),
      HOOKS,
    )
    const exported = await cpuMicrosPerHook(
      receiver,
      accepted(() => receiver.postPipelineWebhook(json)),
      HOOKS,
    )
    const { ours } = timeInTurns({ ours: () => convertHook(json) })
    console.log('\nHook JSON to traces, CPU per pipeline of 20 jobs')
    printTable([
      ['Go gitlabreceiver, HTTP and file exporter included', `${exported.toFixed(0)} µs`],
      ['  of that, HTTP: a hook it refuses unread', `${refused.toFixed(0)} µs`],
      ['  of that, HTTP and reading: a hook it drops', `${dropped.toFixed(0)} µs`],
      ['Penstock, hook JSON to protobuf', `${ours.cpuMicros.toFixed(0)} µs`],
      ['ratio, theirs / ours', (exported / ours.cpuMicros).toFixed(2)],
      ['ratio without HTTP', ((exported - refused) / ours.cpuMicros).toFixed(2)],
      ['ratio without HTTP and without reading its JSON', ((exported - dropped) / ours.cpuMicros).toFixed(2)],
    ])
  } finally {
    await receiver.stop()
  }
}

type Post = () => Promise<WebhookAnswer>

/** Makes a post fail if the receiver refuses it: a refused hook costs less than an exported one. */
const accepted =
  (post: Post): Post =>
  async () => {
    const answer = await post()
    if (answer.status >= 400) throw new Error(`the receiver refused the hook: ${answer.message}`)
    return answer
  }

async function cpuMicrosPerHook({ pid }: GitlabReceiver, post: Post, hooks: number): Promise<number> {
  const before = cpuSeconds(pid)
  for (let i = 0; i < hooks; i++) await post()
  return ((cpuSeconds(pid) - before) * 1e6) / hooks
}
