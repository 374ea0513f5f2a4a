import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { criticalPath } from './critical-path.ts'
import {
  createSpanTree,
  jobSpan,
  largePipeline,
  pipelineSpan,
  readFixtureTree,
  wireSpan,
} from './trace-model.harness.ts'
import { modelTrace } from './trace-model.ts'
import { visibleRows } from './trace-rows.ts'
import { traceSentence } from './trace-sentence.ts'
import type { TraceTree } from './trace-tree.ts'

const secondsById = (tree: TraceTree) =>
  Object.fromEntries([...criticalPath(tree)].map(([id, ns]) => [tree.nodes.get(id)!.span.name, ns / 1e9]))

const sentence = (tree: TraceTree) =>
  traceSentence(tree, criticalPath(tree))
    .map(({ text }) => text)
    .join('')
    .trim()

const bridge = { 'svc.cicd.pipeline.task.kind': 'bridge' }

describe('the critical path', () => {
  test('goes back from the end, each time to the job that finished last before', () => {
    const tree = createSpanTree([
      pipelineSpan('run', '', 0, 100),
      jobSpan('build', 'run', 2, 20),
      jobSpan('lint', 'run', 2, 30),
      jobSpan('unit', 'run', 25, 60),
      jobSpan('deploy', 'run', 62, 99),
    ])
    expect(secondsById(tree)).toEqual({ run: 0, build: 18, unit: 35, deploy: 37 })
  })

  test('goes on inside the child pipeline of a bridge, which keeps the rest', () => {
    const tree = createSpanTree([
      pipelineSpan('run', '', 0, 50),
      jobSpan('build', 'run', 1, 5),
      jobSpan('trigger', 'run', 5, 48, bridge),
      pipelineSpan('child', 'trigger', 6, 48),
      jobSpan('long', 'child', 8, 47),
      jobSpan('short', 'child', 8, 9),
    ])
    expect(secondsById(tree)).toEqual({ run: 0, build: 4, trigger: 4, child: 0, long: 39 })
  })

  test('does not follow a child pipeline that the bridge did not wait for', () => {
    const tree = createSpanTree([
      pipelineSpan('run', '', 0, 50),
      jobSpan('trigger', 'run', 5, 6, bridge),
      pipelineSpan('child', 'trigger', 6, 300),
      jobSpan('inside', 'child', 8, 299),
      jobSpan('last', 'run', 7, 50),
    ])
    expect(secondsById(tree)).toEqual({ run: 0, trigger: 1, last: 43 })
  })

  test('leaves out jobs that never ran, and finds jobs below stage spans', () => {
    expect(secondsById(readFixtureTree('failed-pipeline-with-skipped-deploy'))).toEqual({
      'RUN kiln-controller': 0,
      'job: toolchain': 17,
      'job: firmware': 208,
      'job: simulate': 340,
    })
    const staged = createSpanTree([
      pipelineSpan('run', '', 0, 9),
      wireSpan('build', 'run', 0, 5, { 'cicd.pipeline.run.id': 'run', 'cicd.pipeline.task.type': 'build' }),
      jobSpan('compile', 'build', 0, 5),
      jobSpan('unit', 'run', 5, 9),
    ])
    expect(secondsById(staged)).toEqual({ run: 0, compile: 5, unit: 4 })
  })

  test('of other services gives each span the time that no child on the path covers', () => {
    const tree = createSpanTree([
      wireSpan('get', '', 0, 10),
      wireSpan('query', 'get', 1, 4),
      wireSpan('render', 'get', 5, 9),
    ])
    expect(secondsById(tree)).toEqual({ get: 3, query: 3, render: 4 })
  })

  test('never counts a moment twice', () => {
    const job = fc.record({ from: fc.nat(100), length: fc.nat(60), parent: fc.nat(3), isBridge: fc.boolean() })
    fc.assert(
      fc.property(fc.array(job, { maxLength: 30 }), (jobs) => {
        const spans = [pipelineSpan('p0', '', 0, 120)]
        for (const [index, { from, length, parent, isBridge }] of jobs.entries()) {
          const owner = spans.filter((span) => span.name!.startsWith('p'))[parent] ?? spans[0]!
          spans.push(jobSpan(`j${index}`, owner.spanId!, from, from + length, isBridge ? bridge : {}))
          if (isBridge) spans.push(pipelineSpan(`p${index + 1}`, `j${index}`, from, from + length))
        }
        const exclusive = [...criticalPath(createSpanTree(spans)).values()]
        expect(Math.min(...exclusive)).toBeGreaterThanOrEqual(0)
        const total = exclusive.reduce((sum, ns) => sum + ns, 0)
        expect(total).toBeLessThanOrEqual(120e9 + 1)
      }),
    )
  })

  test('agrees with the definition, applied word for word to a pipeline without bridges', () => {
    const job = fc.record({ from: fc.nat(100), length: fc.integer({ min: 1, max: 60 }) })
    fc.assert(
      fc.property(fc.array(job, { minLength: 1, maxLength: 30 }), (drafts) => {
        const jobs = drafts.map(({ from, length }) => ({ from, to: from + length }))
        const end = Math.max(...jobs.map(({ to }) => to))
        const spans = jobs.map(({ from, to }, index) => jobSpan(`j${index}`, 'p', from, to))
        let expected = 0
        const last = (before: number) =>
          jobs.filter(({ to }) => to <= before).sort((a, b) => b.to - a.to || a.from - b.from)[0]
        for (let current = last(end); current !== undefined; current = last(current.from))
          expected += current.to - current.from
        const path = criticalPath(createSpanTree([pipelineSpan('p', '', 0, end), ...spans]))
        expect([...path.values()].reduce((sum, ns) => sum + ns, 0) / 1e9).toBeCloseTo(expected, 6)
      }),
    )
  })
})

describe('the first sentence', () => {
  test('says what failed and what made it slow', () => {
    expect(sentence(readFixtureTree('failed-pipeline-with-skipped-deploy'))).toBe(
      'Failed in test › simulate (script failure). It is on the slowest path: toolchain → firmware → simulate, 9m 25s of 9m 39s.',
    )
  })

  test('tells a failure beside the slow path, and where it is', () => {
    const tree = createSpanTree([
      pipelineSpan('run', '', 0, 100, { 'pipeline.status': 'failed' }),
      jobSpan('service', 'run', 1, 50, { ...bridge, 'job.status': 'failed', 'cicd.pipeline.task.type': 'parts' }),
      pipelineSpan('child', 'service', 2, 50, { 'pipeline.status': 'failed' }),
      jobSpan('integration', 'child', 3, 50, { 'job.status': 'failed', 'error.type': 'script_failure' }),
      jobSpan('slow', 'run', 2, 99, { 'job.status': 'success' }),
    ])
    expect(sentence(tree)).toBe(
      'Failed in service › test › integration (script failure). The failure did not make it slow: the slowest path is slow, 1m 37s of 1m 40s.',
    )
  })

  test('says which job passed when it was tried again', () => {
    expect(sentence(readFixtureTree('rest-bundle-retried-attempts-and-bridges'))).toContain(
      'image passed on its second attempt.',
    )
  })

  test('is absent for other services', () => {
    expect(sentence(createSpanTree([wireSpan('get', '', 0, 10)]))).toBe('')
  })
})

test('10,000 jobs become one row each', () => {
  const { tree, path } = modelTrace([{ scopeSpans: [{ spans: largePipeline(10_000) }] }])
  expect(visibleRows(tree, { folded: new Set(), search: '', failedOnly: false }).rows).toHaveLength(10_001)
  expect(path.size).toBeGreaterThan(100)
})
