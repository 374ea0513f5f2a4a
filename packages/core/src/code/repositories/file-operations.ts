import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type CommitAction, contentInput, contentText, refused } from '../../base/git/commit-actions.ts'
import { modes } from '../../base/git/git-object.ts'
import { entryAt, lastChange } from '../../base/git/history.ts'
import { MAX_PATH_BYTES, segmentsOf } from '../../base/git/repository-path.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import {
  invalidCursor,
  type KeysetPage,
  type KeysetRequest,
  keysetInput,
  type Page,
  pageInput,
} from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { Project } from '../../base/model/project.ts'
import type { CallLimit } from '../../base/operations/call-limit.ts'
import { type Authorized, query, type StepsContext, steps } from '../../base/operations/operation.ts'
import { isAnonymous, rateOf } from '../../base/settings/rate-of.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { pushGuard } from './branch-protection.ts'
import { commitInput, pageOfArray, requireCommitter, revision } from './commit-operations.ts'
import { commitToBranch } from './commit-to-branch.ts'
import { findProjectRepository } from './project-repository.ts'
import { type RepositoryTreeEntry, treeEntriesAt, typeOfEntry } from './tree-entries.ts'

export interface RepositoryFile {
  /** The name of this service, with which adapters prefix headers. */
  readonly serviceName: string
  readonly path: string
  readonly name: string
  /** The ref from the request. */
  readonly ref: string
  readonly bytes: Uint8Array
  /** The digest as hex. */
  readonly sha256: string
  readonly blobSha: string
  readonly commitSha: string
  /** The last commit that changed the file. */
  readonly lastCommitSha: string
  readonly isExecutable: boolean
}

/** The result of creating, updating or removing a file. */
export interface ChangedFile {
  readonly path: string
  readonly branch: string
}

const fileInput = { project: namespaceRef, filePath: z.string().min(1).max(MAX_PATH_BYTES) }

export const getFile = query(
  {
    name: 'getFile',
    caller: 'anyone',
    input: z.object({ ...fileInput, ref: revision.nullish() }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { filePath, ref }): Promise<RepositoryFile> => {
    const repository = await findProjectRepository(core, subject)
    const commitSha = await repository?.findCommit(ref ?? undefined)
    if (repository === undefined || commitSha === undefined) throw notFound('Commit')
    const segments = segmentsOf(filePath)
    const { tree } = await repository.git.commit(commitSha)
    const entry = segments && (await entryAt(repository.git, tree, segments))
    if (segments === undefined || entry === undefined || typeOfEntry(entry) !== 'blob') throw notFound('File')
    const bytes = await repository.git.blob(entry.oid)
    return {
      serviceName: core.settings.serviceName,
      path: segments.join('/'),
      name: entry.name,
      ref: ref ?? 'HEAD',
      bytes,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      blobSha: entry.oid,
      commitSha,
      lastCommitSha: (await lastChange(repository.git, commitSha, segments))?.oid ?? commitSha,
      isExecutable: entry.mode === modes.executable,
    }
  },
)

const writeInput = {
  ...fileInput,
  ...commitInput,
  ...contentInput,
  content: contentText,
  executeFilemode: z.boolean().nullish(),
}

export const createFile = steps(
  {
    name: 'createFile',
    input: z.object(writeInput),
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  (context, input) => changeFile(context, { ...input, action: 'create' }),
)

export const updateFile = steps(
  {
    name: 'updateFile',
    input: z.object({ ...writeInput, lastCommitId: revision.nullish() }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  (context, input) => changeFile(context, { ...input, action: 'update' }),
)

export const removeFile = steps(
  {
    name: 'removeFile',
    input: z.object({ ...fileInput, ...commitInput, lastCommitId: revision.nullish() }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  async (context, input): Promise<void> => {
    await changeFile(context, { ...input, action: 'delete' })
  },
)

/** Lists directories first, then files, each by name; a recursive list orders each by path. */
export const listTree = query(
  {
    name: 'listTree',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      path: z.string().max(MAX_PATH_BYTES).nullish(),
      ref: revision.nullish(),
      recursive: z.boolean().nullish(),
      ...keysetInput,
      /** The id of an entry, after which the next page begins. */
      pageToken: z.string().max(MAX_PATH_BYTES).nullish(),
      ...pageInput,
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async (
    { core, subject },
    { path, ref, recursive, pagination, cursor, pageToken, page, perPage },
  ): Promise<Page<RepositoryTreeEntry> | KeysetPage<RepositoryTreeEntry>> => {
    const repository = await findProjectRepository(core, subject)
    const commit = await repository?.findCommit(ref ?? undefined)
    if (repository === undefined || commit === undefined) throw notFound('Tree')
    const entries = await treeEntriesAt(repository.git, commit, path ?? '', recursive === true)
    if (entries === undefined) throw notFound('Tree')
    if (pagination !== 'keyset') return pageOfArray(entries, { page, perPage })
    return keysetPageOfEntries(entries, { perPage, cursor, pageToken: pageToken ?? undefined })
  },
)

/**
 * Returns the entries after a given one. Either `cursor` identifies that entry by its path, or `pageToken` by its
 * object id.
 */
function keysetPageOfEntries(
  entries: readonly RepositoryTreeEntry[],
  { perPage, cursor, pageToken }: KeysetRequest & { readonly pageToken: string | undefined },
): KeysetPage<RepositoryTreeEntry> {
  const path = cursor && Buffer.from(cursor, 'base64url').toString()
  const last = entries.findIndex((entry) => (path ? entry.path === path : entry.sha === pageToken))
  if (last === -1 && (path || pageToken)) throw invalidCursor()
  const items = entries.slice(last + 1, last + 1 + perPage)
  const hasNext = entries.length > last + 1 + perPage
  return { items, perPage, nextCursor: hasNext ? Buffer.from(items.at(-1)!.path).toString('base64url') : undefined }
}

export const getBlob = query(
  {
    name: 'getBlob',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, sha: z.string().regex(/^[0-9a-f]{40}$/i) }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { sha }): Promise<{ readonly sha: string; readonly bytes: Uint8Array }> => {
    const repository = await findProjectRepository(core, subject)
    const found = await repository?.git.find(sha.toLowerCase())
    if (found?.type !== 'blob') throw notFound('Blob')
    return { sha: sha.toLowerCase(), bytes: found.bytes }
  },
)

/** The limits on requests for the content of a file. They have the names that GitLab gives them. */
const rawLimits = <Input>(path: (input: Input) => string): readonly CallLimit<Input>[] => [
  {
    name: 'raw_blob',
    per: ['subject', { of: path }],
    periodSeconds: 60,
    count: rateOf('raw_blob_request_limit'),
  },
  {
    name: 'raw_blob_unauthenticated',
    per: ['subject'],
    periodSeconds: 60,
    count: rateOf('raw_blob_request_limit_unauthenticated', isAnonymous),
  },
]

/** `getFile` for requests that get the content alone. */
export const getRawFile: typeof getFile = { ...getFile, limits: rawLimits(({ filePath }) => filePath) }
/** `getBlob` for requests that get the content alone. */
export const getRawBlob: typeof getBlob = { ...getBlob, limits: rawLimits(({ sha }) => sha) }

type FileChange = z.output<z.ZodObject<typeof commitInput>> & CommitAction

async function changeFile(context: StepsContext & Authorized<Project>, change: FileChange): Promise<ChangedFile> {
  const { subject } = context
  const segments = segmentsOf(change.filePath)
  if (segments === undefined) throw refused('The file path is not a valid path of a file in a repository')
  const request = {
    branch: change.branch,
    message: change.commitMessage,
    actions: [change],
    start: change.startBranch || undefined,
    authorName: change.authorName || undefined,
    authorEmail: change.authorEmail || undefined,
  }
  await commitToBranch(context, subject, await requireCommitter(context), request, await pushGuard(context))
  return { path: segments.join('/'), branch: change.branch }
}
