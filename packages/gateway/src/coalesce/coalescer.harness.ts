import { ManualClock } from '@penstock/testkit'
import { type CoalesceSettings, defaultCoalesceSettings } from '../contract/coalesce-settings.ts'
import type { ExportCall } from '../contract/export-call.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { Coalescer } from './coalescer.ts'
import { exportCall, ModelUpstream, type Pending, traceBody } from './model-upstream.harness.ts'

/** Lets callbacks run. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Returns a coalescer with a model of an upstream, and ways to submit bodies. */
export function setUp(settings: Partial<CoalesceSettings> = {}, upstream = new ModelUpstream()) {
  const clock = new ManualClock(1_000_000)
  const metrics = new MetricRegistry()
  const coalescer = new Coalescer({
    settings: { ...defaultCoalesceSettings, ...settings },
    clock,
    random: () => 0.5,
    metrics,
  })
  const submit = (body: Uint8Array, call: ExportCall = exportCall()) => coalescer.submit(call, body, upstream)
  const start = (body: Uint8Array, call?: ExportCall) => {
    void submit(body, call)
  }
  /** Submits the bodies while a first one is in flight; the answer to the first releases them as one batch. */
  const joined = async (bodies: readonly Uint8Array[], calls: readonly ExportCall[] = []) => {
    const first = submit(traceBody(['first']))
    const answers = bodies.map((body, index) => submit(body, calls[index]))
    upstream.pending[0]!.answerByContent()
    await first
    await turn()
    return answers
  }
  const count = (name: string) =>
    metrics.report().cells.flatMap((cell) => (cell.name === name && cell.value > 0 ? [[cell.labels, cell.value]] : []))
  return { clock, metrics, coalescer, upstream, submit, start, joined, count }
}

/** Returns this number of bodies with one span each. */
export const named = (count: number) => Array.from({ length: count }, (_, index) => traceBody([`s${index}`]))
/** Returns the number of spans in each request to the upstream; -1 means a body that cannot be read. */
export const sent = (upstream: ModelUpstream) =>
  upstream.requests.map((request) => upstream.read(request)?.length ?? -1)

/** Answers all requests to the upstream, and those that follow. */
export async function drain(upstream: ModelUpstream, play: (pending: Pending) => void): Promise<void> {
  while (upstream.pending.length > 0) {
    for (const pending of upstream.pending) play(pending)
    await turn()
  }
}
