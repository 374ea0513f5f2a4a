import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSpanTree, jobSpan, pipelineSpan, readFixtureTree, wireSpan } from './trace-model.harness.ts'
import { nextFailure, visibleRows } from './trace-rows.ts'
import { isBelow, safeUrl } from './trace-span.ts'
import { laneText } from './trace-text.ts'
import type { TraceTree } from './trace-tree.ts'

const rowsOf = (tree: TraceTree, search = '', folded: string[] = []) =>
  visibleRows(tree, { search, folded: new Set(folded), failedOnly: false }).rows

const spansOf = (tree: TraceTree) => rowsOf(tree).map(({ node }) => node)

const outline = (tree: TraceTree, search = '') =>
  rowsOf(tree, search).map(({ node: { level, span, lane, attempt }, startsLane }) => {
    const parts = [`${level} ${span.name}`, span.status]
    if (startsLane) parts.push(`[${laneText(lane!)}]`)
    if (attempt !== undefined) parts.push(`${attempt.number}/${attempt.of}`)
    return parts.join(' ')
  })

describe('the rows of a pipeline', () => {
  test('stages are in the declared order, and child pipelines under their bridges', () => {
    expect(outline(readFixtureTree('child-pipeline-of-a-bridge', 'parent-pipeline-with-bridges'))).toEqual([
      '1 RUN Braukessel Überwachung success',
      '2 job: image success [build, 1 job]',
      '2 job: kessel-sued success [triggers, 2 jobs]',
      '2 job: kessel-nord success',
      '3 RUN Braukessel Überwachung success',
      '4 job: gaerung success [simulate, 2 jobs]',
      '4 job: sudhaus success',
      '4 job: toleranzen success [accept, 1 job]',
      '2 job: collect success [verify, 1 job]',
    ])
  })

  test('attempts of a job are neighbours and numbered', () => {
    expect(outline(readFixtureTree('rest-bundle-retried-attempts-and-bridges'))).toEqual([
      '1 RUN Braukessel Überwachung success',
      '2 job: image failed [build, 1 job, 2 attempts] 1/2',
      '2 job: image success 2/2',
      '2 job: integration success [test, 1 job]',
      '2 job: sorten success [trigger, 2 jobs]',
      '2 job: etiketten allowed',
    ])
  })

  test('jobs of a forge without stages are in no lane', () => {
    expect(outline(readFixtureTree('github-push-run')).filter((row) => / job: /.test(row))).toEqual([
      '2 job: build success',
      '2 job: test success',
    ])
  })

  test('jobs that never ran keep their stage', () => {
    expect(outline(readFixtureTree('failed-pipeline-with-skipped-deploy')).at(-1)).toBe(
      '2 job: flash-bench skipped [deploy, 1 job]',
    )
    expect(outline(readFixtureTree('canceled-pipeline'))).toContain('2 job: links canceled')
  })

  test('a child pipeline without its bridge is a root', () => {
    const { roots } = readFixtureTree('child-pipeline-of-a-bridge')
    expect(roots.map(({ span, level }) => [span.kind, level])).toEqual([['pipeline', 1]])
  })

  test('queue time and reasons come from attributes', () => {
    const tree = readFixtureTree('failed-pipeline-with-skipped-deploy')
    const job = spansOf(tree).find(({ span }) => span.name === 'job: simulate')!
    expect(job.span).toMatchObject({
      queuedNs: 2.023e9,
      reason: 'script failure',
      startNs: 239e9,
      endNs: 579e9,
      stage: 'test',
    })
  })
})

describe('search, folding and failures', () => {
  const tree = readFixtureTree('child-pipeline-of-a-bridge', 'parent-pipeline-with-bridges')

  test('a search keeps what it finds and the rows above it', () => {
    expect(outline(tree, 'SUDHAUS')).toEqual([
      '1 RUN Braukessel Überwachung success',
      '2 job: kessel-nord success [triggers, 2 jobs]',
      '3 RUN Braukessel Überwachung success',
      '4 job: sudhaus success [simulate, 2 jobs]',
    ])
    expect(outline(tree, 'no such span')).toEqual([])
  })

  test('a folded row hides what is below it', () => {
    const bridge = spansOf(tree).find(({ span }) => span.name === 'job: kessel-nord')!
    expect(rowsOf(tree, '', [bridge.span.id])).toHaveLength(5)
  })

  test('the next failure wraps around, and passes over pipelines and allowed failures', () => {
    const failed = readFixtureTree('rest-bundle-retried-attempts-and-bridges')
    const first = nextFailure(failed, undefined)
    expect(first?.span.name).toBe('job: image')
    expect(nextFailure(failed, first!.span.id)).toBe(first)
    expect(nextFailure(tree, undefined)).toBeUndefined()
  })
})

describe('spans of any service', () => {
  test('orphans and spans with clocks that differ have their place', () => {
    const tree = createSpanTree([
      wireSpan('a', '', 5, 9),
      wireSpan('early', 'a', 1, 3),
      wireSpan('orphan', 'gone', 6, 7),
    ])
    expect(outline(tree)).toEqual(['1 a none', '2 early none', '1 orphan none'])
    expect(tree.durationNs).toBe(8e9)
  })

  test('times that are absent, reversed or no numbers do not reach the rows', () => {
    const tree = createSpanTree([
      { spanId: 'a', startTimeUnixNano: '1750000000000000000', endTimeUnixNano: '5' },
      { spanId: 'b', startTimeUnixNano: 'soon', endTimeUnixNano: '1750000001000000000' },
      { spanId: 'c' },
      { name: 'without an id' },
    ])
    expect(spansOf(tree).map(({ span }) => [span.id, span.startNs, span.endNs])).toEqual(
      expect.arrayContaining([
        ['a', 0, 0],
        ['b', 1e9, 1e9],
        ['c', 0, 0],
      ]),
    )
  })

  test('every span has exactly one row, even if parents form cycles', () => {
    const ids = fc.integer({ min: 0, max: 14 }).map(String)
    const span = fc.record({
      id: ids,
      parent: fc.option(ids, { nil: '' }),
      from: fc.nat(50),
      length: fc.nat(50),
      kind: fc.nat(2),
    })
    fc.assert(
      fc.property(fc.array(span, { maxLength: 40 }), (drafts) => {
        const make = [wireSpan, pipelineSpan, jobSpan]
        const tree = createSpanTree(drafts.map((d) => make[d.kind]!(d.id, d.parent, d.from, d.from + d.length)))
        const shown = spansOf(tree).map((node) => node.span.id)
        expect(shown.toSorted()).toEqual([...new Set(drafts.map(({ id }) => id))].toSorted())
        for (const node of tree.nodes.values()) expect(node.level).toBe((node.parent?.level ?? 0) + 1)
      }),
    )
  })

  test('ten thousand levels are no problem', () => {
    const spans = Array.from({ length: 10_000 }, (_, index) =>
      wireSpan(`s${index}`, index ? `s${index - 1}` : '', index, 10_000),
    )
    expect(spansOf(createSpanTree(spans)).at(-1)?.level).toBe(10_000)
  })
})

test('only addresses of web pages become links', () => {
  expect(safeUrl('https://forge.example/a?b=c')).toBe('https://forge.example/a?b=c')
  expect(safeUrl('http://forge.example:8080/')).toBe('http://forge.example:8080/')
  const refused = [
    'javascript:alert(1)',
    ' java\nscript:alert(1)',
    'data:text/html,x',
    'https://u:p@forge.example/',
    '//x',
    '',
  ]
  for (const text of [...refused, `https://forge.example/${'a'.repeat(3000)}`]) expect(safeUrl(text)).toBeUndefined()
})

test.each([
  ['https://forge.example/shop/-/jobs/1', 'https://forge.example', true],
  ['https://forge.example/shop/-/jobs/1', 'https://forge.example/shop/', true],
  ['https://forge.example', 'https://forge.example/', true],
  ['https://forge.example.org/shop', 'https://forge.example', false],
  ['https://forge.example:8443/shop', 'https://forge.example', false],
  ['https://forge.example/shopping', 'https://forge.example/shop', false],
  ['no URL', 'https://forge.example', false],
])('%s is below %s: %s', (url, base, expected) => {
  expect(isBelow(url, base)).toBe(expected)
})

test('the filter for failures keeps the failed spans and the rows above them, folded ones included', () => {
  const tree = readFixtureTree('failed-pipeline-with-skipped-deploy')
  const run = tree.roots[0]!.span.id
  const { rows, found } = visibleRows(tree, { folded: new Set([run]), search: '', failedOnly: true })
  expect(rows.map(({ node: { span } }) => [span.name.replace(/^RUN.*/, 'run'), span.status])).toEqual([
    ['run', 'failed'],
    ['job: simulate', 'failed'],
  ])
  expect(found?.size).toBe(2)
  const both = visibleRows(tree, { folded: new Set(), search: 'toolchain', failedOnly: true })
  expect([both.rows.length, both.found?.size]).toEqual([0, 0])
})
