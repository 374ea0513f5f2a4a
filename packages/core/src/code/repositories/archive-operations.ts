import { basename } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { subscriberOf } from '@penstock/runtime'
import { z } from 'zod'
import { type ArchiveEntry, archiveFormats, archiveStream } from '../../base/git/archive.ts'
import { refused } from '../../base/git/commit-actions.ts'
import { modes } from '../../base/git/git-object.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { entryAt } from '../../base/git/history.ts'
import { MAX_PATH_BYTES, segmentsOf } from '../../base/git/repository-path.ts'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { query } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { revision } from './commit-operations.ts'
import { findProjectRepository, type ProjectRepository } from './project-repository.ts'
import { type RepositoryTreeEntry, treeEntriesAt } from './tree-entries.ts'

/** The maximum size of all files of an archive together, before compression. */
const MAX_ARCHIVE_BYTES = 2 * 1024 * 1024 * 1024
/** The limit of archives that one process sends at a time. */
const MAX_RUNNING = 8
const RETRY_AFTER_SECONDS = 10
const MAX_EXCLUDED = 100

export interface Archive {
  readonly fileName: string
  readonly contentType: string
  readonly stream: Readable
}

/** The maximum number of archives that one caller gets at a time, and the maximum time for sending one. */
const MAX_RUNNING_OF_CALLER = 2
const MAX_SENDING_MS = 10 * 60_000

/** The number of archives that are being sent, by caller. */
const running = new Map<string, number>()

/**
 * Counts a running archive of the caller, and returns the function that removes it from the count.
 * @throws DomainError `too_often`
 */
function reserveArchive(caller: string): () => void {
  const own = running.get(caller) ?? 0
  const all = [...running.values()].reduce((sum, count) => sum + count, 0)
  if (own >= MAX_RUNNING_OF_CALLER || all >= MAX_RUNNING) {
    throw new DomainError({ code: 'too_often', retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
  running.set(caller, own + 1)
  return () => {
    const count = running.get(caller)! - 1
    if (count > 0) running.set(caller, count)
    else running.delete(caller)
  }
}

/** Returns the files of a commit, or of one of its directories, as an archive. */
export const getArchive = query(
  {
    name: 'getArchive',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      format: z.enum(archiveFormats).default('tar.gz'),
      sha: revision.nullish(),
      path: z.string().max(MAX_PATH_BYTES).nullish(),
      excludePaths: z.array(z.string().max(MAX_PATH_BYTES)).max(MAX_EXCLUDED).nullish(),
      /** Without effect, because repositories hold no LFS objects. */
      includeLfsBlobs: z.boolean().nullish(),
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject, actor, request }, { format, sha, path, excludePaths }): Promise<Archive> => {
    const repository = await findProjectRepository(core, subject)
    const oid = await repository?.findCommit(sha ?? undefined)
    if (repository === undefined || oid === undefined) throw notFound('File')
    const release = reserveArchive(
      actor === undefined ? `address ${subscriberOf(request.address ?? '')}` : `user ${actor.id}`,
    )
    try {
      const archive = await archiveOf(repository, oid, {
        name: basename(subject.fullPath),
        format,
        sha,
        path,
        excludePaths,
      })
      archive.stream.once('close', release)
      addAbortSignal(AbortSignal.timeout(MAX_SENDING_MS), archive.stream)
      return archive
    } catch (error) {
      release()
      throw error
    }
  },
)

interface ArchiveRequest {
  /** The name of the project, which the name of the archive contains. */
  readonly name: string
  readonly format: (typeof archiveFormats)[number]
  readonly sha?: string | null | undefined
  readonly path?: string | null | undefined
  readonly excludePaths?: readonly string[] | null | undefined
}

/** @throws DomainError `not_found` for a path that does not exist */
async function archiveOf(
  repository: ProjectRepository,
  oid: string,
  { name: projectName, format, sha, path, excludePaths }: ArchiveRequest,
): Promise<Archive> {
  const { git } = repository
  const within = (path ?? '').replace(/^\/+|\/+$/g, '')
  const found = await entriesWithin(git, oid, within)
  if (found === undefined) throw notFound('File')
  const excluded = (excludePaths ?? []).map((each) => each.replace(/^\/+|\/+$/g, ''))
  const isExcluded = (each: string) => excluded.some((other) => each === other || each.startsWith(`${other}/`))
  const ref = sha ?? repository.defaultBranch ?? 'HEAD'
  const name = [projectName, ref, oid, ...(within === '' ? [] : [within])].join('-').replaceAll('/', '-')
  const entries = await archiveEntries(
    git,
    name,
    found.filter((entry) => !isExcluded(entry.path)),
  )
  const { committer } = await git.commitHeader(oid)
  const stream = archiveStream(format, entries, new Date(committer.atSeconds * 1_000))
  return { fileName: `${name}.${format}`, contentType: contentTypes[format], stream }
}

const contentTypes = {
  'tar.gz': 'application/gzip',
  tgz: 'application/gzip',
  gz: 'application/gzip',
  tar: 'application/x-tar',
  zip: 'application/zip',
} as const satisfies Record<(typeof archiveFormats)[number], string>

/** Returns the entries at and below a path with the directories above it, or `undefined` if there is nothing. */
async function entriesWithin(
  git: GitRepository,
  commit: string,
  path: string,
): Promise<RepositoryTreeEntry[] | undefined> {
  if (path === '') return treeEntriesAt(git, commit, '', true)
  const segments = segmentsOf(path)
  const entry = segments && (await entryAt(git, (await git.commitHeader(commit)).tree, segments))
  if (segments === undefined || entry === undefined) return undefined
  const above = segments.slice(0, -1).map((name, depth): RepositoryTreeEntry => {
    const directory = segments.slice(0, depth + 1).join('/')
    return { sha: '', name, type: 'tree', path: directory, mode: modes.tree }
  })
  const { name, mode, oid: sha } = entry
  if (mode !== modes.tree) return [...above, { sha, name, type: 'blob', path: segments.join('/'), mode }]
  const below = (await treeEntriesAt(git, commit, path, true)) ?? []
  return [...above, { sha, name, type: 'tree', path: segments.join('/'), mode }, ...below]
}

/** @throws DomainError `refused` if the files are too large together */
async function archiveEntries(
  git: GitRepository,
  prefix: string,
  found: readonly RepositoryTreeEntry[],
): Promise<ArchiveEntry[]> {
  const sizes = new Map<string, number>()
  let total = 0
  const none = async () => new Uint8Array()
  const entries: ArchiveEntry[] = [{ path: `${prefix}/`, type: 'directory', size: 0, read: none }]
  for (const { path, type, mode, sha } of found) {
    // A submodule is an empty directory, as in Git's own archives.
    if (type !== 'blob') {
      entries.push({ path: `${prefix}/${path}/`, type: 'directory', size: 0, read: none })
      continue
    }
    const size = sizes.get(sha) ?? (await git.blobSize(sha))
    sizes.set(sha, size)
    total += size
    if (total > MAX_ARCHIVE_BYTES) throw refused(`The files are larger than ${MAX_ARCHIVE_BYTES} bytes together`)
    const kind = mode === modes.link ? 'link' : mode === modes.executable ? 'executable' : 'file'
    entries.push({ path: `${prefix}/${path}`, type: kind, size, read: () => git.blob(sha) })
  }
  return entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
}
