import { z } from 'zod'
import { canComment } from '../../base/access/can.ts'
import { type Subject, standingsOf } from '../../base/access/subject.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import type { RepositoryTreeEntry } from '../repositories/tree-entries.ts'
import type { Snippet } from './snippet.ts'
import { canReadSnippet, canRemoveSnippet, canUpdateSnippet } from './snippet-access.ts'
import { readSnippetFiles, type SnippetFiles } from './snippet-repository.ts'
import { unsubmittedUserAgents } from './user-agent-store.ts'

// Batch queries of GraphQL on snippets that the caller may read.

/** The rights of the caller on a snippet. */
export interface SnippetRights {
  readonly read: boolean
  readonly update: boolean
  readonly admin: boolean
  /** Whether they may report it to the spam-detection service. */
  readonly report: boolean
  /** Personal snippets have no notes. */
  readonly comment: boolean
}

export const rightsOfEachSnippet = unscopedBatchQuery(
  { name: 'rightsOfEachSnippet', input: z.object({}) },
  async (context, snippets: readonly Snippet[]): Promise<SnippetRights[]> => {
    const { actor } = context
    const projects = new Map(snippets.flatMap(({ project }) => (project === undefined ? [] : [[project.id, project]])))
    const subjects: Subject[] = [...projects.values()]
    const standings = subjects.length === 0 ? [] : await standingsOf(context, actor, subjects)
    const standingOf = new Map(subjects.map(({ id }, index) => [id, standings[index]!]))
    const removable = new Set<number>()
    const rights = snippets.map((snippet) => {
      const viewer = { actor, standing: snippet.project && standingOf.get(snippet.project.id) }
      const admin = canRemoveSnippet(viewer, snippet)
      if (admin) removable.add(snippet.id)
      const comment = viewer.standing !== undefined && canComment(viewer.standing, { isLocked: false })
      return { read: canReadSnippet(viewer, snippet), update: canUpdateSnippet(viewer, snippet), admin, comment }
    })
    const reportable = await unsubmittedUserAgents(context, [...removable])
    return rights.map((each, index) => ({ ...each, report: reportable.has(snippets[index]!.id) }))
  },
)

/** A file of a snippet, at the newest commit. Size and content are read on demand, the content only once. */
export interface SnippetFile {
  readonly snippet: Snippet
  readonly path: string
  readonly name: string
  /** The mode as six digits. */
  readonly mode: string
  size(): Promise<number>
  bytes(): Promise<Uint8Array>
}

/** Returns the files of each snippet in the order of their paths; none if the repository is missing. */
export const filesOfEachSnippet = unscopedBatchQuery(
  { name: 'filesOfEachSnippet', input: z.object({}) },
  async ({ core }, snippets: readonly Snippet[]): Promise<SnippetFile[][]> => {
    const lists: SnippetFile[][] = []
    for (const snippet of snippets) {
      const found = await readSnippetFiles(core, snippet.id)
      lists.push(typeof found === 'string' ? [] : found.files.map((file) => snippetFile(snippet, file, found)))
    }
    return lists
  },
)

function snippetFile(
  snippet: Snippet,
  { path, name, mode, sha }: RepositoryTreeEntry,
  { git }: Pick<SnippetFiles, 'git'>,
): SnippetFile {
  let bytes: Promise<Uint8Array> | undefined
  return {
    snippet,
    path,
    name,
    mode,
    size: () => git.blobSize(sha),
    bytes() {
      bytes ??= git.blob(sha)
      return bytes
    },
  }
}
