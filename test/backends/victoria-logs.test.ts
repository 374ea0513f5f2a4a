import type { OtlpRequest } from '@penstock/otlp'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { neededCollector } from '../collector/collector-suite.ts'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { convertedFixtures, exportFixtures } from '../contract/exported-fixtures.ts'
import { caseFile } from '../fixtures.ts'
import { neededBackend } from './backend.ts'
import { differences, noDifferences } from './differences.ts'
import { isTooFarAhead, victoriaLogsLosses } from './log-losses.ts'
import { rowsOf, withoutOwnFields } from './log-rows.ts'
import { openWay, routes } from './routes.ts'
import { startVictoriaLogs, type VictoriaLogs } from './victoria-logs.ts'

/** More than the age of the oldest fixture. */
const retentionDays = 20_000

describeWithPrograms('VictoriaLogs', [neededBackend('victoria-logs'), neededCollector()], () => {
  let sent: OtlpRequest<'logs'>[]
  beforeAll(async () => {
    sent = (await convertedFixtures()).logs
  })

  describe.each(routes)('%s', (route) => {
    let store: VictoriaLogs
    beforeAll(async () => {
      store = await startVictoriaLogs({ retentionDays })
      const to = { endpoint: store.otlpUrl, config: 'victoria-logs.yaml', variable: 'VICTORIA_LOGS_OTLP_ENDPOINT' }
      const way = await openWay(route, to)
      const { exitCode, stderr } = await exportFixtures(way.endpoint, ['--signals', 'logs'])
      await way.stop()
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`${sent.length} converted`)])
    })
    afterAll(() => store?.stop())

    test('has every record, with every field', async () => {
      const stored = (await store.query('*')).map(withoutOwnFields)
      const expected = sent.flatMap((request) => rowsOf(request, (record) => !isTooFarAhead(record)))
      expect(differences(stored.map(inOrder), expected.map(inOrder))).toEqual(noDifferences)
      expect(stored.length).toBeGreaterThan(400)
    })
  })

  test('drops records that are older than the retention, and logs it', async () => {
    const store = await startVictoriaLogs({ retentionDays: 90 })
    onTestFinished(() => store.stop())
    const old = await exportFixtures(store.otlpUrl, ['--signals', 'logs'], [caseFile('e57-timestamps-of-2009')])
    expect(old.stdout).toContain('everything accepted')
    expect(await store.query('*')).toEqual([])
    expect(store.logs()).toContain('retention')
  })

  test.each(victoriaLogsLosses)('$id: occurs in what is sent', ({ applies }) => {
    const all = sent.flatMap(({ resources }) =>
      resources.flatMap(({ resource, scopes }) =>
        scopes.flatMap(({ items }) => items.map((record) => applies(record, resource))),
      ),
    )
    expect(all).toContain(true)
  })
})

const inOrder = (row: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))
