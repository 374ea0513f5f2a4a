import type { RouteParameters } from '../../routing/route.ts'
import { orderedList } from './lists.ts'

/** The maximum size of a body with content: a file of 10 MiB in Base64 and other parameters. */
export const CONTENT_LIMIT_BYTES = 16 * 1024 * 1024

export const newCommit = {
  refused: { start_project: 'a commit starts from a branch or commit of its own project' },
} satisfies RouteParameters

export const treeList = {
  noEffect: { order_by: orderedList.noEffect.order_by, sort: orderedList.noEffect.sort },
} satisfies RouteParameters

export const mergeRequestChanges = {
  noEffect: { access_raw_diffs: 'diffs are always read from the repository' },
} satisfies RouteParameters
