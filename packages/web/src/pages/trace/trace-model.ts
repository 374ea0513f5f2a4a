import type { WireResourceSpans } from '../../api/otlp-json.ts'
import { type CriticalPath, criticalPath } from './critical-path.ts'
import { type SentencePart, traceSentence } from './trace-sentence.ts'
import { readSpans } from './trace-span.ts'
import { buildTree, type TraceNode, type TraceTree } from './trace-tree.ts'

/** Everything that the page computes from a trace. */
export interface TraceModel {
  readonly tree: TraceTree
  readonly path: CriticalPath
  readonly sentence: readonly SentencePart[]
  /** The span that represents the trace: its pipeline, else its first root; `undefined` for a trace without spans. */
  readonly root: TraceNode | undefined
  readonly failed: number
}

/** Returns the model of a trace. */
export function modelTrace(resourceSpans: readonly WireResourceSpans[]): TraceModel {
  const tree = buildTree(readSpans(resourceSpans))
  const path = criticalPath(tree)
  const root = tree.roots.find(({ span }) => span.kind === 'pipeline') ?? tree.roots[0]
  let failed = 0
  for (const { span } of tree.nodes.values()) if (span.status === 'failed') failed += 1
  return { tree, path, sentence: traceSentence(tree, path), root, failed }
}
