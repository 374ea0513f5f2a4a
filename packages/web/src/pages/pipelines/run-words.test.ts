import { expect, test } from 'vitest'
import type { PipelineRun } from '../../api/answers.ts'
import { mergeRuns, runAddress, runName, summaryText, triggerText } from './run-words.ts'

const run = (values: Partial<PipelineRun>) =>
  ({
    trace_id: 'abcdef0123456789',
    span_id: 's',
    project: null,
    name: null,
    pipeline_id: null,
    failed_jobs: [],
    start_ns: '1',
    ...values,
  }) as PipelineRun

test.each([
  [{ project: 'mossgate/shop/storefront', pipeline_id: '132' }, 'storefront #132'],
  [{ name: 'nightly', pipeline_id: null }, 'nightly'],
  [{ pipeline_id: '7' }, '#7'],
  [{ project: 'a/shop', pipeline_id: '7db8a71d-2276-4c21-bb58-3d0bcf097f24', pipeline_iid: 501 }, 'shop #501'],
  [{ project: 'a/shop', pipeline_id: '7db8a71d-2276-4c21-bb58-3d0bcf097f24' }, 'shop #7db8a71d-227'],
  [{}, 'abcdef01'],
])('a run has a name: %o', (values, name) => {
  expect(runName(run(values))).toBe(name)
})

test('a child run is selected in the trace of its parent', () => {
  expect(runAddress(run({ is_child: false }))).toBe('/traces/abcdef0123456789')
  expect(runAddress(run({ is_child: true }))).toBe('/traces/abcdef0123456789?span=s')
})

test('triggers are words', () => {
  expect(['merge_request_event', 'web_ide', null].map(triggerText)).toEqual(['merge request', 'web ide', '–'])
})

test('the summary says whether there are more runs', () => {
  const runs = [{ status: 'failed' }, { status: 'success' }]
  expect(summaryText(runs, false, '2 h ago')).toBe('2 runs, 1 failed, newest 2 h ago')
  expect(summaryText(runs, true, undefined)).toBe('The latest 2 runs, 1 failed')
})

test('a reloaded first page keeps the older runs that were loaded', () => {
  const [new3, changed2, old2, old1] = [
    run({ span_id: '3', start_ns: '3' }),
    run({ span_id: '2', start_ns: '2', status: 'success' }),
    run({ span_id: '2', start_ns: '2', status: 'running' }),
    run({ span_id: '1', start_ns: '1' }),
  ]
  expect(mergeRuns([new3, changed2], [old2, old1])).toEqual([new3, changed2, old1])
})
