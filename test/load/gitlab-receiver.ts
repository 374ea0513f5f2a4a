import { collectorBinary } from '../collector/collector.ts'
import { startGitlabReceiver } from '../collector/gitlab-receiver.ts'
import { cpuSeconds } from '../collector/process-cpu.ts'
import { printTable, timeInTurns } from './measure.ts'
import { pipelineHook } from './payloads.ts'

const HOOKS = 3_000

/**
 * CPU per pipeline of the Go receiver on the payload we are timed with, traces alone.
 *
 * It answers over HTTP and writes a file, which ours does not; hooks of a running pipeline, which it reads and drops,
 * show how much of its figure that is.
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
    await cpuMicrosPerHook(receiver, json, 200)
    const dropped = await cpuMicrosPerHook(receiver, running, HOOKS)
    const exported = await cpuMicrosPerHook(receiver, json, HOOKS)
    const { ours } = timeInTurns({ ours: () => convertHook(json) })
    console.log('\nHook JSON to traces, CPU per pipeline of 20 jobs')
    printTable([
      ['Go gitlabreceiver, HTTP and file exporter included', `${exported.toFixed(0)} µs`],
      ['  of that, reading a hook it drops', `${dropped.toFixed(0)} µs`],
      ['Penstock, hook JSON to protobuf', `${ours.cpuMicros.toFixed(0)} µs`],
      ['ratio, theirs / ours', (exported / ours.cpuMicros).toFixed(2)],
      ['ratio without what a dropped hook costs it', ((exported - dropped) / ours.cpuMicros).toFixed(2)],
    ])
  } finally {
    await receiver.stop()
  }
}

async function cpuMicrosPerHook(
  receiver: Awaited<ReturnType<typeof startGitlabReceiver>>,
  json: string,
  hooks: number,
) {
  const before = cpuSeconds(receiver.pid)
  for (let i = 0; i < hooks; i++) {
    const { status, message } = await receiver.postPipelineWebhook(json)
    if (status >= 400) throw new Error(`the receiver refused the hook: ${message}`)
  }
  return ((cpuSeconds(receiver.pid) - before) * 1e6) / hooks
}
