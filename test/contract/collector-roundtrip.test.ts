import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeRequest, type Encoding, type OtlpRequest, type Signal, signalNames } from '@penstock/otlp'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { type Outcome, penstock, penstockProcess } from '../command-line.ts'
import { caseNames } from '../fixtures.ts'
import { type Agent, itemCount, startAgent } from './agent.ts'
import { compareModels } from './compare-models.ts'
import { convertedFixtures, fixtureFiles, type Requests, receivedAt } from './exported-fixtures.ts'
import { itemsByKey } from './items.ts'
import { collectorChanges, DifferenceTally } from './known-differences.ts'

/** The fixtures that are not exported by default. @see fixtures/README.md */
const notFinal = caseNames.filter(
  (name) => /^e01-status-|^e02-/.test(name) || ['e04-unknown-status-with-finish', 'job-hook-alone'].includes(name),
)

const optionSets: readonly (readonly string[])[] = [
  [],
  // The ids must stay hashed: native ids do not distinguish two instances, which one of the fixtures requires.
  [
    ...['--profile', 'native', '--id-scheme', 'hashed', '--stage-spans', '--user', 'hash'],
    ...['--bounds', 'fine', '--pending-point', '--event-names'],
  ],
]

describeWithCollector('penstock export to a collector', () => {
  let agent: Agent
  let directory: string

  beforeEach(async () => {
    agent = await startAgent()
    directory = await mkdtemp(join(tmpdir(), 'converted-'))
  })
  afterEach(async () => {
    await agent.stop()
    await rm(directory, { recursive: true })
  })

  const exportTo = (run: typeof penstockProcess, options: readonly string[], encoding: Encoding) =>
    run([
      'export',
      ...fixtureFiles,
      '--endpoint',
      agent.collector.httpEndpoint,
      '--encoding',
      encoding,
      ...receivedAt,
      ...options,
    ])

  const convertToDirectory = async (options: readonly string[]): Promise<Requests> => {
    const run = await penstock([
      'convert',
      ...fixtureFiles,
      ...receivedAt,
      ...options,
      '--encoding',
      'protobuf',
      '-o',
      directory,
    ])
    expect(run.exitCode).toBe(0)
    const requests: Record<Signal, OtlpRequest[]> = { traces: [], metrics: [], logs: [] }
    for (const file of await readdir(directory)) {
      const signal = signalNames.find((each) => file.endsWith(`.${each}.pb`))!
      requests[signal].push(decodeRequest(signal, await readFile(join(directory, file)), 'protobuf'))
    }
    return requests as Requests
  }

  /** Expects that the collector received every span, metric and log record once, with the same values. */
  async function expectReceived(converted: Requests): Promise<void> {
    const tally = new DifferenceTally(collectorChanges)
    for (const signal of signalNames) {
      const expected = itemsByKey(converted[signal])
      const count = converted[signal].reduce((sum, request) => sum + itemCount(request), 0)
      const actual = itemsByKey(await agent.received(signal, count))
      expect([...expected.repeated, ...actual.repeated]).toEqual([])
      expect([...actual.byKey.keys()].toSorted()).toEqual([...expected.byKey.keys()].toSorted())
      for (const [key, item] of expected.byKey) tally.add(key, compareModels(item, actual.byKey.get(key)))
    }
    expect(tally.unexplained).toEqual([])
    expect(tally.compared).toBeGreaterThan(140_000)
    expect(tally.unobserved).toEqual([])
  }

  function expectAllAccepted({ exitCode, stdout, stderr }: Outcome, converted: Requests): void {
    const outcome = [exitCode, stdout.toString(), stderr.slice(-500)]
    expect(outcome).toEqual([0, expect.stringMatching(/\neverything accepted\n$/), expect.anything()])
    for (const name of notFinal) expect(stderr).toContain(`${name}.json: skipped: `)
    expect(stderr).toMatch(new RegExp(`^${converted.traces.length} converted, \\d+ skipped, 0 refused$`, 'm'))
  }

  for (const options of optionSets) {
    test.each<Encoding>(['protobuf', 'json'])(
      `exports all fixtures in %s with the options: ${options.join(' ') || 'none'}`,
      async (encoding) => {
        const converted = await convertedFixtures(options)
        const run = await exportTo(penstock, options, encoding)

        expectAllAccepted(run, converted)
        await expectReceived(converted)
      },
    )
  }

  test('exports all fixtures as a separate process', async () => {
    const converted = await convertToDirectory([])
    const run = await exportTo(penstockProcess, [], 'protobuf')

    expectAllAccepted(run, converted)
    await expectReceived(converted)
  })
})
