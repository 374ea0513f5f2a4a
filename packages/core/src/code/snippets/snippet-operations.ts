import type { Readable } from 'node:stream'
import type { z } from 'zod'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import type { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CallLimit } from '../../base/operations/call-limit.ts'
import { command, query, steps } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import type { SnippetAction } from './snippet-actions.ts'
import { createSnippetWith, removeSnippetWith, updateSnippetWith, viewSnippet } from './snippet-changes.ts'
import {
  createSnippetInput,
  listSnippetsInput,
  newFilesIn,
  rawFileInput,
  snippetInput,
  updateSnippetInput,
} from './snippet-input.ts'
import { readSnippetFiles, type SnippetFiles } from './snippet-repository.ts'
import { pageOfSnippets } from './snippet-store.ts'
import { getUserAgent } from './user-agent-store.ts'

// Snippets of projects, by REST.

const subject = (context: ReadContext, { project }: { readonly project: z.output<typeof namespaceRef> }) =>
  getProject(context, project)
/** The right to change a snippet also depends on its author, so `updateSnippetWith` and `removeSnippetWith` check it. */
const onReadable = { permission: 'read_snippet', subject } as const
const reads = { ...onReadable, caller: 'anyone' } as const

const PER_HOUR = 300
/** One count for snippets of projects and personal ones, by REST and GraphQL. */
export const snippetCreationLimits: readonly CallLimit<object>[] = [
  { name: 'snippets_create', per: ['user'], periodSeconds: 3_600, count: PER_HOUR },
]

export const listProjectSnippets = query(
  { name: 'listProjectSnippets', input: listSnippetsInput, ...onReadable },
  (context, page) => pageOfSnippets(context, context.subject, page),
)

export const getProjectSnippet = query(
  { name: 'getProjectSnippet', input: snippetInput, ...reads },
  async (context, { snippetId }) => (await viewSnippet(context, snippetId, { project: context.subject })).snippet,
)

export const createProjectSnippet = steps(
  {
    name: 'createProjectSnippet',
    input: createSnippetInput,
    limits: snippetCreationLimits,
    permission: 'create_snippet',
    subject,
  },
  (context, input) => createSnippetWith(context, { ...input, project: context.subject, actions: newFilesIn(input) }),
)

export const updateProjectSnippet = steps(
  { name: 'updateProjectSnippet', input: updateSnippetInput, ...onReadable },
  (context, { snippetId, files, content, fileName, ...input }) =>
    updateSnippetWith(
      context,
      snippetId,
      { ...input, actionsFor: (paths) => files ?? actionsOnOnlyFile(paths, { content, fileName }) },
      context.subject,
    ),
)

/** Returns the actions of the former way to change the only file of a snippet. */
function actionsOnOnlyFile(
  [path = '', ...others]: readonly string[],
  { content, fileName }: { readonly content: string | undefined; readonly fileName: string | undefined },
): SnippetAction[] {
  if (content === undefined && fileName === undefined) return []
  if (others.length > 0) {
    const message = 'To update Snippets with multiple files, you must use the `files` parameter'
    throw new DomainError({ code: 'refused', message })
  }
  if (fileName !== undefined && fileName !== path) {
    return [{ action: 'move', filePath: fileName, previousPath: path, content }]
  }
  return content === undefined ? [] : [{ action: 'update', filePath: path, content }]
}

export const removeProjectSnippet = command(
  { name: 'removeProjectSnippet', input: snippetInput, isConditional: true, ...onReadable },
  (tx, { snippetId }) => removeSnippetWith(tx, snippetId, tx.subject),
)

/** The size up to which a file is held in memory to be sent. */
const MAX_WHOLE_BYTES = 256 * 1024

/** The content of a file of a snippet. */
export interface RawSnippetFile {
  readonly name: string
  /** The id of the blob. */
  readonly sha: string
  readonly size: number
  /** A large file is read in parts while it is sent, so that it does not block the event loop. */
  readonly content: Uint8Array | Readable
}

/** Returns the first file, in the order of the paths. */
export const getRawProjectSnippet = query(
  { name: 'getRawProjectSnippet', input: snippetInput, ...reads },
  async (context, { snippetId }): Promise<RawSnippetFile> => {
    await viewSnippet(context, snippetId, { project: context.subject, what: 'Snippet' })
    const found = await readSnippetFiles(context.core, snippetId)
    if (typeof found === 'string') throw notFound('Snippet')
    return rawFile(found, found.files[0]?.path)
  },
)

export const getRawProjectSnippetFile = query(
  { name: 'getRawProjectSnippetFile', input: rawFileInput, ...reads },
  async (context, { snippetId, ref, filePath }): Promise<RawSnippetFile> => {
    await viewSnippet(context, snippetId, { project: context.subject, what: 'Snippet' })
    const found = await readSnippetFiles(context.core, snippetId, ref)
    if (found === 'no_repository') throw notFound('Snippet')
    if (found === 'no_ref') throw notFound('Reference')
    return rawFile(found, filePath)
  },
)

async function rawFile({ git, files }: SnippetFiles, wanted: string | undefined): Promise<RawSnippetFile> {
  const file = files.find(({ path }) => path === wanted)
  if (file === undefined) throw notFound('File')
  const { name, sha } = file
  const size = await git.blobSize(sha)
  return { name, sha, size, content: await (size > MAX_WHOLE_BYTES ? git.blobParts(sha) : git.blob(sha)) }
}

/** Returns the client that created a snippet. */
export const getSnippetUserAgent = query(
  { name: 'getSnippetUserAgent', input: snippetInput, ...onReadable, caller: 'administrator' },
  async (context, { snippetId }) => {
    await viewSnippet(context, snippetId, { project: context.subject })
    return getUserAgent(context, snippetId)
  },
)
