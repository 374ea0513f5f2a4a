import { expect, test } from 'vitest'
import { attributeGroups, LEGACY_GROUP, RESOURCE_GROUP } from './attribute-groups.ts'
import { criticalPath } from './critical-path.ts'
import { flowLines, indexFlow } from './flow.ts'
import { minimapShapes } from './minimap-shape.ts'
import { runFacts } from './run-facts.ts'
import { createSpanTree, largePipeline, readFixtureTree } from './trace-model.harness.ts'
import { visibleRows } from './trace-rows.ts'

const everything = { folded: new Set<string>(), search: '', failedOnly: false }

test('lines join the rows of the critical path, and attempts of a job', () => {
  const tree = readFixtureTree('rest-bundle-retried-attempts-and-bridges')
  const rows = visibleRows(tree, everything)
  const lines = flowLines(tree, criticalPath(tree), rows, true)
  expect(lines.map(({ kind, firstRow, lastRow, atNs }) => [kind, firstRow, lastRow, atNs / 1e9])).toEqual([
    ['path', 1, 2, 36.502],
    ['path', 2, 3, 123.071],
    ['retry', 1, 2, 36.502],
  ])
  expect(flowLines(tree, criticalPath(tree), rows, false).map(({ kind }) => kind)).toEqual(['retry'])
  const index = indexFlow(lines)
  expect([0, 1, 2, 3, 4].map((row) => index.linesAt(row).length)).toEqual([0, 2, 3, 1, 0])
})

test('the minimap of any trace has a bounded number of bars', () => {
  const tree = createSpanTree(largePipeline(10_000))
  const shapes = minimapShapes(tree, criticalPath(tree))
  const bars = shapes.reduce((sum, { path }) => sum + path.split('M').length - 1, 0)
  expect(new Set(shapes.map(({ meaning }) => meaning))).toEqual(new Set(['passed', 'failed']))
  expect(bars).toBeGreaterThan(60)
  expect(bars).toBeLessThan(60 * 250)
})

test('attributes are grouped, and those that repeat others come apart', () => {
  const { roots } = readFixtureTree('failed-pipeline-with-skipped-deploy')
  const { span } = roots[0]!.children.find(({ span: { name } }) => name === 'job: simulate')!
  const groups = attributeGroups(span.wire.attributes!, span.resource)
  expect(groups.map(({ title }) => title)).toEqual(['Why it failed', 'Runner', 'Task', LEGACY_GROUP, RESOURCE_GROUP])
  expect(groups.reduce((sum, { attributes }) => sum + attributes.length, 0)).toBe(
    span.wire.attributes!.length + span.resource.length,
  )
  expect(
    attributeGroups(span.wire.attributes!, span.resource, 'SCRIPT_failure').flatMap(({ attributes }) => attributes),
  ).toHaveLength(3)
})

test('the facts of a run come from its pipeline span and its resource', () => {
  const { roots } = readFixtureTree('failed-pipeline-with-skipped-deploy')
  expect(runFacts(roots[0]!.span)).toEqual({
    title: 'kiln-controller #88412',
    project: 'ceramics/firmware/kiln-controller',
    busySeconds: 567,
    queueSeconds: 5,
    ref: 'fix/overshoot',
    sha: 'f85c6b81',
    commitUrl:
      'https://git.example.com/ceramics/firmware/kiln-controller/-/commit/f85c6b8179bf30ad5464480f4da9d00c9536b2d0',
    forge: 'svc',
    commit: 'Limit the integral term',
    trigger: 'push by tlindqvist',
    url: 'https://git.example.com/ceramics/firmware/kiln-controller/-/pipelines/88412',
  })
})
