import { convert, readInput, resolveOptions, RecordError } from '@penstock/converter'
import { encodeRequest, signalNames, decodeRequest } from '@penstock/otlp'
import { pipelineHooks } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { startAgent, itemCount } from './agent.ts'
import { compareModels } from './compare-models.ts'
import { readIndependently } from './independent-reader.ts'
import { Reckoning, collectorChanges, sdkLosses } from './known-differences.ts'

test('probe', async () => {
  const hooks = fc.sample(pipelineHooks(), { numRuns: 3000, seed: 42 })
  const sets = [{}, { profile: 'native', stageSpans: true, multiProject: 'same-trace' }, { profile: 'strict', user: 'hash', pendingPoint: true, bounds: 'fine' }] as any[]
  const conv = hooks.flatMap((h, i) => { try { const input = readInput(h, { receivedAtNs: 1_790_000_000_123_456_789n }); if (input.kind !== 'pipeline') return []; return [convert(input.record, resolveOptions(sets[i % 3]))] } catch (e) { if (e instanceof RecordError) return []; throw e } })
  console.log(hooks.length, conv.length)
  const r = new Reckoning([])
  for (const c of conv) for (const s of signalNames) for (const enc of ['protobuf', 'json'] as const) {
    r.add(s, compareModels(c[s], readIndependently(s, encodeRequest(s, c[s], enc), enc)))
  }
  console.log(r.compared, r.unexplained)
  const agent = await startAgent()
  const q = new Reckoning(collectorChanges)
  for (const s of signalNames) {
    let n = 0
    for (const c of conv) { await agent.send(s, c[s] as any); n += itemCount(c[s]) }
    const got = await agent.received(s, n)
    expect(got.length).toBe(conv.length)
    conv.forEach((c, i) => q.add(s, compareModels(c[s], got[i])))
  }
  console.log(q.compared, q.unexplained, q.met)
  await agent.stop()
}, 300000)
