import { expect, test } from 'vitest'
import { traceErrors, traceName } from './trace-words.ts'

const root = { name: 'pipeline', service: 'shop', status_code: 2 }
const run = { project: 'shop/web', name: 'build', pipeline_id: '132', ref: 'main', status: 'failed', jobs_failed: 1 }

test('a pipeline is named by its project and number, another trace by its first span', () => {
  expect(traceName({ trace_id: 'a', root, run })).toBe('web #132')
  expect(traceName({ trace_id: 'a', root, run: null })).toBe('pipeline')
  expect(traceName({ trace_id: 'a', root: { ...root, name: '' }, run: null })).toBe('(no name)')
  expect(traceName({ trace_id: '0123456789abcdef0123', root: null, run: null })).toBe('0123456789abcdef')
})

test('a failed job is one error, and so is a failed pipeline without a failed job', () => {
  expect(traceErrors({ errors: 3, run })).toBe(1)
  expect(traceErrors({ errors: 1, run: { ...run, jobs_failed: 0 } })).toBe(1)
  expect(traceErrors({ errors: 2, run: { ...run, status: 'success' } })).toBe(1)
  expect(traceErrors({ errors: 0, run: { ...run, status: 'success', jobs_failed: 0 } })).toBe(0)
  expect(traceErrors({ errors: 3, run: null })).toBe(3)
})
