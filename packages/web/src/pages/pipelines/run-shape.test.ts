import { expect, test } from 'vitest'
import { runShape } from './run-shape.ts'

const job = (start: number, end: number, status: string) => ({
  name: 'job',
  stage: 'test',
  status,
  start_ns: String(start),
  end_ns: String(end),
})

test('draws jobs over time by status, failures on top', () => {
  const { lines } = runShape({
    start_ns: '0',
    end_ns: '100',
    shape: [job(0, 50, 'success'), job(50, 100, 'failed'), job(25, 75, 'success')],
  })
  expect(lines).toEqual([
    { meaning: 'passed', path: 'M0 2h53M26.5 20h53' },
    { meaning: 'failed', path: 'M53 11h53' },
  ])
})

test('jobs outside the run stay inside the drawing', () => {
  const { lines } = runShape({ start_ns: '50', end_ns: '100', shape: [job(0, 300, 'success')] })
  expect(lines).toEqual([{ meaning: 'passed', path: 'M0 2h106' }])
})

test('forty jobs fit', () => {
  const { lines, thickness } = runShape({
    start_ns: '0',
    end_ns: '100',
    shape: Array.from({ length: 40 }, () => job(0, 100, 'success')),
  })
  expect(lines[0]?.path.endsWith('M0 20h106')).toBe(true)
  expect(thickness).toBeLessThan(0.6)
})
