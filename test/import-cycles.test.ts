import { describe, expect, test } from 'vitest'
import { cyclesOf, fileGraph, folderGraph, isTest, packages, sourcesOf } from './source-imports.ts'

const graphOf = (edges: Record<string, string[]>) =>
  new Map(Object.entries(edges).map(([from, to]) => [from, new Set(to)]))

test.each<[string, Record<string, string[]>, string[][]]>([
  ['a tree', { a: ['b', 'c'], b: ['c'], c: [] }, []],
  ['two files', { a: ['b'], b: ['c'], c: ['b'] }, [['b', 'c']]],
  [
    'two cycles with an edge between them',
    { a: ['b'], b: ['c', 'a'], c: ['d'], d: ['e'], e: ['c'] },
    [
      ['c', 'd', 'e'],
      ['a', 'b'],
    ],
  ],
  ['a cycle that is reached late', { a: ['c'], b: ['a'], c: ['d'], d: ['b', 'e'], e: [] }, [['a', 'b', 'c', 'd']]],
])('finds the cycles of a graph: %s', (_, edges, cycles) => {
  expect(cyclesOf(graphOf(edges))).toEqual(cycles)
})

test('counts files directly in src as a folder, and leaves out the entry', () => {
  const files = fileGraph([
    { file: 'packages/x/src/index.ts', imports: ['./a/one.ts'] },
    { file: 'packages/x/src/a/one.ts', imports: ['../index.ts', '../state.ts', './b/two.ts', 'node:fs'] },
    { file: 'packages/x/src/state.ts', imports: ['./c/three.ts'] },
    { file: 'packages/x/src/a/b/two.ts', imports: ['../one.ts', '../../c/three.ts'] },
  ])
  expect(folderGraph(files)).toEqual(graphOf({ a: ['.', 'a/b'], 'a/b': ['a', 'c'], '.': ['c'] }))
})

describe.each(packages)('%s', (name) => {
  const files = fileGraph(sourcesOf(name).filter(({ file }) => !isTest(file)))

  test('has no files that import each other in a cycle', () => {
    expect(cyclesOf(files)).toEqual([])
  })

  test('has no folders that import each other in a cycle', () => {
    expect(cyclesOf(folderGraph(files))).toEqual([])
  })
})
