import { join } from 'node:path'
import { convert, exportDecision, resolveOptions } from '@penstock/converter'
import { parseLossless, readInput } from '@penstock/forges'
import { encodeRequest } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { chanceOf } from '../../packages/cli/src/samples/chance.ts'
import { earlierRuns } from '../../packages/cli/src/samples/earlier-runs.ts'
import { sampleRecords } from '../../packages/cli/src/samples/sample-hooks.ts'
import { sampleWorld } from '../../packages/cli/src/samples/sample-world.harness.ts'
import type { Finding } from '../../packages/observe/src/insights/findings.ts'
import { OneThreadStore } from '../../packages/observe/src/one-thread-store.harness.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const DAY_MS = 86_400_000
const options = resolveOptions()

/** Stores the pipelines of a sample workspace that begins at that time, and returns the findings of the two weeks before it. */
async function findingsAt(nowMs: number): Promise<Finding[]> {
  await using directory = await temporaryDirectory()
  const store = await OneThreadStore.open({
    file: join(directory.path, 'observe.db'),
    clock: new ManualClock(nowMs),
    limits: { retentionMs: 365 * DAY_MS },
  })
  for (const { hook } of sampleRecords(sampleWorld(nowMs), earlierRuns(nowMs, chanceOf))) {
    const input = readInput(parseLossless(JSON.stringify(hook)), { receivedAtNs: undefined })
    if (input.kind !== 'pipeline') throw new Error(`${input.kind} is no pipeline`)
    if (exportDecision(input.record, options).kind !== 'export') continue
    const { traces } = convert(input.record, options)
    await store.receiveBody('traces', encodeRequest('traces', traces, 'protobuf'), 'protobuf')
  }
  const ns = (ms: number) => BigInt(ms) * 1_000_000n
  const filter = { sinceNs: ns(nowMs - 14 * DAY_MS), untilNs: ns(nowMs), offsetMinutes: 0 }
  const answer = await store.answer({ kind: 'insights', filter })
  await store.close()
  return JSON.parse(Buffer.from(answer!.json).toString()).findings
}

/** The rules that docs/guides/tour.md describes for the sample workspace, with the names in their sentences. */
const described = [
  ['slower_yesterday', 'image', 'mossgate/shop/checkout'],
  ['slow_drift', expect.stringMatching(/^browser \d\/4$/), 'mossgate/shop/storefront'],
  ['flaky_job', 'payments sandbox', 'mossgate/shop/checkout'],
] as const

// The samples depend on the day of the week and on the time of the day.
test.each([
  ['a Monday night', Date.UTC(2026, 2, 2, 0, 30), '2026-02-24'],
  ['a Wednesday noon', Date.UTC(2026, 2, 4, 12, 0), '2026-02-26'],
  ['a Thursday evening', Date.UTC(2026, 2, 5, 20, 40), '2026-02-27'],
  ['a Saturday night', Date.UTC(2026, 2, 7, 22, 45), '2026-02-27'],
])(
  'on %s Insights finds in the sample workspace what the tour says',
  { timeout: 300_000 },
  async (_, nowMs, badDay) => {
    const findings = await findingsAt(nowMs)
    const partsOf = (rule: string) => findings.find((finding) => finding.rule === rule)?.parts ?? []
    for (const [rule, job, project] of described) {
      const names = partsOf(rule).flatMap((part) => ('name' in part ? [part.name] : []))
      expect(names, rule).toEqual(expect.arrayContaining([job, project]))
    }
    expect(partsOf('bad_day')[0]).toEqual({ day_ns: `${Date.parse(badDay)}000000` })
  },
)
