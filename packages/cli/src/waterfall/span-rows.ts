import type { Span } from '@penstock/otlp'
import { type SpanRow, spanRow } from './span-row.ts'
import type { SpanNode } from './span-tree.ts'

/** A line of a waterfall. */
export interface TreeRow {
  readonly span: Span
  readonly row: SpanRow
  /** The tree lines before the mark. */
  readonly branch: string
  /** True for an attempt of a job that a later attempt has replaced. */
  readonly isReplaced: boolean
}

type DescribedNode = SpanNode & Pick<TreeRow, 'row' | 'isReplaced'>

/** Returns the rows of a trace from top to bottom. The attempts of a job are numbered, and are next to each other. */
export function treeRows(roots: readonly SpanNode[], extensions: boolean): TreeRow[] {
  const rows: TreeRow[] = []
  const visit = ({ span, children, row, isReplaced }: DescribedNode, branch: string, below: string) => {
    rows.push({ span, row, branch, isReplaced })
    const ordered = describedInOrder(children, extensions)
    for (const [at, child] of ordered.entries()) {
      const isLast = at === ordered.length - 1
      visit(child, `${below}${isLast ? '└─ ' : '├─ '}`, `${below}${isLast ? '   ' : '│  '}`)
    }
  }
  for (const root of describedInOrder(roots, extensions)) visit(root, '', '')
  return rows
}

/**
 * Returns the nodes with their rows. Jobs that never ran come last, because the creation time of a job says nothing
 * about its order.
 */
function describedInOrder(nodes: readonly SpanNode[], extensions: boolean): DescribedNode[] {
  const described = nodes.map((node) => ({ ...node, row: spanRow(node.span, extensions), isReplaced: false }))
  const jobs = groupAttempts(described)
  const ran = ([...attempts]: readonly DescribedNode[]) => attempts.some(({ row }) => row.executed)
  return [...jobs.filter(ran), ...jobs.filter((attempts) => !ran(attempts))].flatMap(numberAttempts)
}

/**
 * Returns the spans in groups, one group with all attempts of each job, in the order of their first spans. A span that
 * is not a job forms a group of its own.
 */
function groupAttempts(nodes: readonly DescribedNode[]): DescribedNode[][] {
  const groups = new Map<unknown, DescribedNode[]>()
  for (const node of nodes) {
    const key = node.row.job?.name ?? node
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [node])
    else group.push(node)
  }
  return [...groups.values()]
}

/**
 * Numbers the attempts of a job in order of their ids, if the source does not number them. Later attempts have higher
 * ids.
 */
function numberAttempts(attempts: readonly DescribedNode[]): DescribedNode[] {
  const idOf = ({ row }: DescribedNode) => row.job?.id ?? 0n
  return attempts
    .toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))
    .map((node, at) => {
      const attempt = node.row.job?.attempt ?? at + 1
      const isNumbered = attempts.length > 1 || attempt > 1
      const row = isNumbered ? { ...node.row, number: `#${attempt}` } : node.row
      return { ...node, row, isReplaced: at < attempts.length - 1 }
    })
}
