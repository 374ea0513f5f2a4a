import { convert, resolveOptions } from '@penstock/converter'
import { type PipelineRecord, readInput } from '@penstock/forges'
import type { Span } from '@penstock/otlp'
import { describe, expect, test } from 'vitest'
import { plain } from '../text/palette.ts'
import { type SpanNode, tracesOf } from './span-tree.ts'
import { waterfall } from './waterfall.ts'

/** An arbitrary span. The tests depend only on its ids and times. */
const [template] = spansOf({ id: 1 })

function spansOf(attributes: Readonly<Record<string, unknown>>, builds: readonly unknown[] = [], extensions = true) {
  const body = {
    object_attributes: { status: 'success', finished_at: '2026-02-11 09:25:11 UTC', ...attributes },
    builds,
  }
  const input = readInput({ object_kind: 'pipeline', ...body }, { receivedAtNs: undefined }) as {
    record: PipelineRecord
  }
  const { traces } = convert(input.record, resolveOptions({ extensions }))
  return traces.resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))
}

const spanOf = (spanId: string, parentSpanId: string): Span => ({ ...template!, spanId, parentSpanId, name: spanId })

type Outline = readonly [name: string, ...children: Outline[]]
const outline = ({ span, children }: SpanNode): Outline => [span.name, ...children.map(outline)]

const outlines = (spans: readonly Span[]) => tracesOf(spans).flatMap(({ roots }) => roots.map(outline))

test.each([
  { tree: 'a child', parents: { a: '', b: 'a' }, expected: [['a', ['b']]] },
  { tree: 'an unknown parent', parents: { a: 'x', b: 'a' }, expected: [['a', ['b']]] },
  { tree: 'its own parent', parents: { a: 'a', b: 'a' }, expected: [['a', ['b']]] },
  { tree: 'two parents of each other', parents: { a: 'b', b: 'a', c: 'b' }, expected: [['a', ['b', ['c']]]] },
  { tree: 'a cycle beside a tree', parents: { a: '', b: 'c', c: 'b' }, expected: [['a'], ['b', ['c']]] },
])('$tree', ({ parents, expected }) => {
  const spans = Object.entries(parents).map(([id, parent]) => spanOf(id, parent))
  expect(outlines(spans)).toEqual(expected)
})

describe('a job without a length', () => {
  const at = '2026-02-11 09:25:00 UTC'
  const started = { id: 7, name: 'deploy', status: 'canceled', created_at: at, started_at: at, finished_at: at }
  const neverRan = { ...started, started_at: null }
  const durations = (build: unknown, extensions: boolean) =>
    waterfall(spansOf({ id: 1, created_at: at }, [build], extensions), { width: 80, palette: plain, extensions })
      .filter((line) => line.includes('deploy'))
      .map((line) => (line.includes('–') ? 'never ran' : 'ran'))

  test('the attribute of its span shows whether it ran', () => {
    expect([started, neverRan].flatMap((build) => durations(build, true))).toEqual(['ran', 'never ran'])
  })

  test('without our own keys it is treated as never run', () => {
    expect([started, neverRan].flatMap((build) => durations(build, false))).toEqual(['never ran', 'never ran'])
  })
})
