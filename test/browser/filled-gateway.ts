import { type RunningGateway, startGateway } from '../gateway/running-gateway.ts'
import { golden } from './golden-telemetry.ts'
import {
  beginsNs,
  makePoints,
  makeRecords,
  makeTraces,
  sendOtlp,
  sendPoints,
  sendRecords,
  sendTraces,
} from './sent-signals.ts'

const pipelines = [
  'parent-pipeline-with-bridges',
  'child-pipeline-of-a-bridge',
  'rest-bundle-retried-attempts-and-bridges',
  'failed-pipeline-with-skipped-deploy',
  'canceled-pipeline',
]
/** The traces of a pipeline with children, and of one with retried jobs. */
export const PARENT = '667f6c6d2142d9f78951e9420570f88b'
export const RETRIED = '291a2e5bfa88c8c3659724c802e7b013'
const LONG = 'a-name-that-is-much-longer-than-a-narrow-screen-is-wide'

/** Starts a gateway with telemetry of every kind, so that each page has something in each of its parts. */
export async function filledGateway(): Promise<RunningGateway> {
  const gateway = await startGateway()
  for (const [index, name] of pipelines.entries()) {
    for (const signal of ['traces', 'metrics', 'logs'] as const)
      await sendOtlp(gateway, signal, golden(name, signal, beginsNs + BigInt(index) * 60_000_000_000n))
  }
  const traces = makeTraces(40)
  await sendTraces(gateway, traces)
  await sendRecords(gateway, makeRecords(40, traces))
  await sendPoints(gateway, makePoints(traces, 3))
  await gateway.token({ name: LONG })
  return gateway
}
