import { expect, test } from 'vitest'
import { countsOf } from '../load/export/sink-process.ts'
import { outage } from './outage.ts'
import { Upstream } from './upstream.ts'

test('exports records once that arrive during an outage of the upstream and a restart of the service', async () => {
  const { faults, drains } = await outage({
    perSecond: 1_000,
    before: 100,
    during: 1_000,
    async startSink(port) {
      const upstream = await Upstream.start(port)
      return {
        url: upstream.url,
        counts: async () => countsOf(upstream),
        [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
      }
    },
  })
  expect(faults).toEqual([])
  expect(drains[1]!.records).toBeGreaterThanOrEqual(1_000)
}, 300_000)
