import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type CommitAction, contentInput, contentText, refused } from '../git/commit-actions.ts'
import { modes, type TreeEntry } from '../git/git-object.ts'
import type { GitRepository } from '../git/git-repository.ts'
import { entryAt, lastChange } from '../git/history.ts'
import { MAX_PATH_BYTES, segmentsOf } from '../git/repository-path.ts'
import { notFound } from '../kit/domain-error.ts'
import { type Page, pageInput } from '../kit/page.ts'
import { namespaceRef } from '../kit/parameter-schemas.ts'
import type { Project } from '../model/project.ts'
import { query, type StepsContext, steps } from '../operations/operation.ts'
import { getProject } from '../projects/project-store.ts'
import { commitInput, pageOfArray, requireCommitter, revision } from './commit-operations.ts'
import { commitToBranch } from './commit-to-branch.ts'
import { findProjectRepository } from './project-repository.ts'

/** A listing with more entries is rejected. */
const MAX_TREE_ENTRIES = 100_000

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

export interface RepositoryTreeEntry {
  readonly sha: string
  readonly name: string
  /** `commit` stands for a submodule. */
  readonly type: 'tree' | 'blob' | 'commit'
  readonly path: string
  readonly mode: string
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
    if (segments === undefined || entry === undefined || typeOf(entry) !== 'blob') throw notFound('File')
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
      ...pageInput,
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { path, ref, recursive, page, perPage }): Promise<Page<RepositoryTreeEntry>> => {
    const repository = await findProjectRepository(core, subject)
    const commit = await repository?.findCommit(ref ?? undefined)
    if (repository === undefined || commit === undefined) throw notFound('Tree')
    const directory = (path ?? '').replace(/^\/+|\/+$/g, '')
    const segments = directory === '' ? [] : segmentsOf(directory)
    const { tree } = await repository.git.commit(commit)
    const root = segments && (await entryAt(repository.git, tree, segments))
    if (root?.mode !== modes.tree) throw notFound('Tree')
    const entries: RepositoryTreeEntry[] = []
    await collect(repository.git, root.oid, directory === '' ? '' : `${directory}/`, recursive === true, entries)
    const sorted = (['tree', 'blob', 'commit'] as const).flatMap((type) =>
      entries.filter((entry) => entry.type === type),
    )
    return pageOfArray(sorted, { page, perPage })
  },
)

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

type FileChange = z.output<z.ZodObject<typeof commitInput>> & CommitAction

async function changeFile(context: StepsContext & { subject: Project }, change: FileChange): Promise<ChangedFile> {
  const { core, subject } = context
  const segments = segmentsOf(change.filePath)
  if (segments === undefined) throw refused('The file path is not a valid path of a file in a repository')
  await commitToBranch(core, subject, await requireCommitter(context), {
    branch: change.branch,
    message: change.commitMessage,
    actions: [change],
    start: change.startBranch || undefined,
    authorName: change.authorName || undefined,
    authorEmail: change.authorEmail || undefined,
  })
  return { path: segments.join('/'), branch: change.branch }
}

async function collect(
  git: GitRepository,
  tree: string,
  prefix: string,
  recursive: boolean,
  entries: RepositoryTreeEntry[],
): Promise<void> {
  for (const entry of await git.tree(tree)) {
    if (entries.length === MAX_TREE_ENTRIES) throw refused('The directory has too many files to list')
    const path = prefix + entry.name
    entries.push({ sha: entry.oid, name: entry.name, type: typeOf(entry), path, mode: entry.mode })
    if (recursive && entry.mode === modes.tree) await collect(git, entry.oid, `${path}/`, recursive, entries)
  }
}

function typeOf({ mode }: TreeEntry): RepositoryTreeEntry['type'] {
  if (mode === modes.tree) return 'tree'
  return mode === modes.submodule ? 'commit' : 'blob'
}
