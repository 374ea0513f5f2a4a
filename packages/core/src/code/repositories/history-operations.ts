import { z } from 'zod'
import { blame } from '../../base/git/blame.ts'
import { refused } from '../../base/git/commit-actions.ts'
import { countCommits, countFirstParents } from '../../base/git/commit-count.ts'
import { referencesContaining } from '../../base/git/containing-references.ts'
import type { CommitSignatureType } from '../../base/git/git-object.ts'
import type { RefKind } from '../../base/git/git-reference.ts'
import { entryAt, history, MAX_SEARCHED } from '../../base/git/history.ts'
import { linesOf } from '../../base/git/line-diff.ts'
import { MAX_PATH_BYTES, segmentsOf } from '../../base/git/repository-path.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { problem } from '../../base/kit/parse-input.ts'
import { query } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { type Commit, commitOfProject } from './commit.ts'
import { pageOfArray, revision } from './commit-operations.ts'
import { findProjectRepository } from './project-repository.ts'
import { typeOfEntry } from './tree-entries.ts'

/** The size of the largest file for which blame, the last commit of each line, is computed. */
const MAX_BLAMED_BYTES = 1024 * 1024
const MAX_BLAMED_LINES = 50_000

const oneCommit = { project: namespaceRef, sha: revision }

/** An author of commits, identified by the e-mail address. */
export interface Contributor {
  readonly name: string
  readonly email: string
  readonly commits: number
}

/** Lists the authors of commits, except merge commits. */
export const listContributors = query(
  {
    name: 'listContributors',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      ref: revision.nullish(),
      orderBy: z.enum(['email', 'name', 'commits']).default('commits'),
      sort: z.enum(['asc', 'desc']).default('asc'),
      ...pageInput,
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { ref, orderBy, sort, page, perPage }): Promise<Page<Contributor>> => {
    const repository = await findProjectRepository(core, subject)
    const tip = await repository?.findCommit(ref ?? undefined)
    if (tip === undefined && ref) throw notFound('Ref')
    const found = new Map<string, { name: string; email: string; commits: number }>()
    for await (const { author, parents } of tip === undefined ? [] : history(repository!.git, [tip])) {
      if (parents.length > 1) continue
      const known = found.get(author.email)
      if (known === undefined) found.set(author.email, { name: author.name, email: author.email, commits: 1 })
      else known.commits += 1
    }
    const sorted = [...found.values()].toSorted((a, b) => compare[orderBy](a, b) || compare.email(a, b))
    return pageOfArray(sort === 'asc' ? sorted : sorted.reverse(), { page, perPage })
  },
)

const compareTexts = (a: string, b: string) => (a < b ? -1 : Number(a > b))
const compare = {
  name: (a, b) => compareTexts(a.name, b.name),
  email: (a, b) => compareTexts(a.email, b.email),
  commits: (a, b) => a.commits - b.commits,
} satisfies Record<string, (a: Contributor, b: Contributor) => number>

/** Lines of a file that one commit has changed last. */
export interface BlamedLines {
  readonly commit: Commit
  /** The lines without their line feeds. */
  readonly lines: readonly string[]
}

/** Returns the lines of a file, grouped by the commit that last changed them. */
export const blameFile = query(
  {
    name: 'blameFile',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      filePath: z.string().min(1).max(MAX_PATH_BYTES),
      ref: revision,
      /** The first and the last line, counted from 1. */
      range: z
        .object({ start: z.int().min(1), end: z.int().min(1) })
        .superRefine(({ start, end }, context) => {
          if (end < start) context.addIssue(problem('invalid'))
        })
        .nullish(),
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { filePath, ref, range }): Promise<BlamedLines[]> => {
    const repository = await findProjectRepository(core, subject)
    const tip = await repository?.findCommit(ref)
    if (repository === undefined || tip === undefined) throw notFound('Commit')
    const { git } = repository
    const segments = segmentsOf(filePath)
    const entry = segments && (await entryAt(git, (await git.commitHeader(tip)).tree, segments))
    if (segments === undefined || entry === undefined || typeOfEntry(entry) !== 'blob') throw notFound('File')
    if ((await git.blobSize(entry.oid)) > MAX_BLAMED_BYTES) throw refused('The file is too large to blame')
    const lines = linesOf(Buffer.from(await git.blob(entry.oid)).toString())
    if (lines.length > MAX_BLAMED_LINES) throw refused('The file is too large to blame')
    const commits = await blame(git, tip, segments)
    if (commits === undefined) throw refused('The history of the file is too long to blame')
    const groups: { oid: string; lines: string[] }[] = []
    for (let at = (range?.start ?? 1) - 1; at < Math.min(range?.end ?? lines.length, lines.length); at += 1) {
      const [{ oid }, line] = [commits[at]!, lines[at]!.replace(/\n$/, '')]
      if (groups.at(-1)?.oid === oid) groups.at(-1)!.lines.push(line)
      else groups.push({ oid, lines: [line] })
    }
    const known = new Map<string, Commit>()
    for (const { oid } of groups)
      if (!known.has(oid)) known.set(oid, commitOfProject(subject, { oid, ...(await git.shownCommit(oid)) }))
    return groups.map((group) => ({ commit: known.get(group.oid)!, lines: group.lines }))
  },
)

/** A branch or tag that contains a commit. */
export interface ContainingReference {
  readonly type: 'branch' | 'tag'
  readonly name: string
}

const kindOfType = { branch: 'heads', tag: 'tags' } as const satisfies Record<string, RefKind>

/** Lists the branches and tags that contain a commit: branches first, each by name. */
export const listCommitRefs = query(
  {
    name: 'listCommitRefs',
    caller: 'anyone',
    input: z.object({
      ...oneCommit,
      type: z.enum(['branch', 'tag', 'all']).default('all'),
      ...pageInput,
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { sha, type, page, perPage }): Promise<Page<ContainingReference>> => {
    const repository = await findProjectRepository(core, subject)
    const oid = await repository?.findCommit(sha)
    if (repository === undefined || oid === undefined) throw notFound('Commit')
    const found: ContainingReference[] = []
    for (const each of type === 'all' ? (['branch', 'tag'] as const) : [type]) {
      const references = await referencesContaining(repository.git, kindOfType[each], oid)
      if (references === undefined) throw refused('The history is too long to find the branches and tags of the commit')
      found.push(...references.map(({ name }) => ({ type: each, name })))
    }
    return pageOfArray(found, { page, perPage })
  },
)

/** Counts the commits of the history that ends with a commit, itself included. */
export const getCommitSequence = query(
  {
    name: 'getCommitSequence',
    caller: 'anyone',
    input: z.object({ ...oneCommit, firstParent: z.boolean().nullish() }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { sha, firstParent }): Promise<{ readonly count: number }> => {
    const repository = await findProjectRepository(core, subject)
    const oid = await repository?.findCommit(sha)
    if (repository === undefined || oid === undefined) throw notFound('Commit')
    const count = await (firstParent ? countFirstParents : countCommits)(repository.git, oid)
    if (count >= MAX_SEARCHED) throw refused('The history is too long to count its commits')
    return { count }
  },
)

/** Returns the type of the signature of a commit. Signatures are not verified, because no keys are known. */
export const getCommitSignature = query(
  {
    name: 'getCommitSignature',
    caller: 'anyone',
    input: z.object(oneCommit),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { sha }): Promise<{ readonly type: CommitSignatureType }> => {
    const repository = await findProjectRepository(core, subject)
    const oid = await repository?.findCommit(sha)
    if (repository === undefined || oid === undefined) throw notFound('Commit')
    const type = await repository.git.signatureType(oid)
    if (type === undefined) throw notFound('Signature')
    return { type }
  },
)
