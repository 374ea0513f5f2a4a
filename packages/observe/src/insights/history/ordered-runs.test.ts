import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createInsights, knownSince } from '../insights-report.ts'
import { DAY, MONDAY, run, selectedRuns, someRuns } from '../run-facts.harness.ts'
import { type HistoryFilter, matches, OrderedRuns } from './ordered-runs.ts'
import { USUAL_RUNS } from './usual-runs.ts'

const WEEK = 7 * DAY

test('statistics read the runs of their range, and for each kind in it the last successful runs before it', () => {
  const refs = ['main', 'work', 'oil']
  const old = Array.from({ length: 900 }, (_, index) =>
    run({
      start: MONDAY + index,
      ref: refs[index % 3]!,
      refKind: index % 3 === 0 ? 'default_branch' : 'other_branch',
      status: index % 2 === 0 ? 'success' : 'failed',
      isChild: index % 5 === 0,
    }),
  )
  const own = [
    run({ start: MONDAY + WEEK }),
    run({ start: MONDAY + WEEK + 1, ref: 'work', refKind: 'other_branch' }),
    run({ start: MONDAY + WEEK + 2, status: 'failed', project: 'another' }),
  ]
  const ordered = new OrderedRuns(selectedRuns([...old, ...own]).runs)
  const span = { since: MONDAY + WEEK, until: MONDAY + 2 * WEEK }
  const traces = (filter: HistoryFilter) => ordered.selectWithUsual(filter, span).map(({ traceId }) => traceId)
  const usual = (isOfKind: (ref: string | null) => boolean) =>
    old.filter(({ status, isChild, ref }) => status === 'success' && !isChild && isOfKind(ref)).slice(-USUAL_RUNS)
  const expected = (runs: typeof old, of: typeof old) => [
    ...runs.toSorted((a, b) => a.start - b.start).map(({ traceId }) => traceId),
    ...of.map(({ traceId }) => traceId),
  ]
  expect(traces({})).toEqual(expected([...usual((ref) => ref === 'main'), ...usual((ref) => ref !== 'main')], own))
  expect(traces({ ref: 'work' })).toEqual(
    expected(
      usual((ref) => ref === 'work'),
      [own[1]!],
    ),
  )
})

test('reports are the same as from all runs', () => {
  const filters = fc.constantFrom<HistoryFilter>({}, { project: 'shop' }, { ref: 'main' }, { service: 'none' })
  fc.assert(
    fc.property(someRuns, fc.integer({ min: 1, max: 14 }), filters, (runs, days, filter) => {
      const { runs: all, table } = selectedRuns(runs)
      const until = MONDAY + 14 * DAY
      const range = { since: until - days * DAY, until, offsetMinutes: 0 }
      const known = { since: knownSince(range), until }
      const whole = all.filter((each) => matches(each, filter))
      const selected = new OrderedRuns(all).selectWithUsual(filter, known)
      expect(createInsights({ runs: selected, table }, range)).toEqual(createInsights({ runs: whole, table }, range))
    }),
    { numRuns: 60 },
  )
})
