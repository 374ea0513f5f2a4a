import { z } from 'zod'
import type { RefKind } from '../../base/git/git-reference.ts'
import { MAX_PATH_BYTES } from '../../base/git/repository-path.ts'
import { listedEach, listingOfArrays } from '../../base/kit/listing.ts'
import { instant } from '../../base/kit/parameter-schemas.ts'
import { listingOfSequences } from '../../base/kit/sequence-listing.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { descriptionsInput, type SizedDescription } from '../../base/operations/description-store.ts'
import { batchQuery, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { findUsersByEmail } from '../../identity/users/user-store.ts'
import type { ListedCommit } from './commit.ts'
import { revision } from './commit-operations.ts'
import { findProjectRepository, type ProjectRepository } from './project-repository.ts'
import {
  type CommitSelector,
  type CommitSummary,
  type EntryOfTree,
  type FileOfRepository,
  RepositoryReader,
  type RepositoryTree,
} from './repository-reader.ts'
import type { RepositoryTreeEntry } from './tree-entries.ts'

const MAX_PATHS = 100
const refKinds = ['heads', 'tags'] as const satisfies readonly RefKind[]
const MAX_BRANCH_NAMES = 100
const repositoryPath = z.string().max(MAX_PATH_BYTES).nullish()
const refInput = { ref: revision.nullish(), refKind: z.enum(refKinds).nullish() }

/** Opens the repositories of projects. A caller that has a reader needs no further permission to read. */
export const openRepositories = batchQuery(
  { name: 'openRepositories', input: z.object({}), permission: 'read_repository' },
  ({ core }, projects: readonly Project[]) =>
    Promise.all(projects.map((project) => RepositoryReader.open(core, project))),
)

export const countsOfRepositories = unscopedBatchQuery(
  { name: 'countsOfRepositories', input: z.object({ what: z.enum(['commits', ...refKinds]) }) },
  (_context, readers: readonly RepositoryReader[], { what }) =>
    mapInSequence(readers, (reader) => (what === 'commits' ? reader.countCommits() : reader.count(what))),
)

/** Returns the languages of the default branch of each repository. */
export const languagesOfRepositories = unscopedBatchQuery(
  { name: 'languagesOfRepositories', input: z.object({}) },
  (_context, readers: readonly RepositoryReader[]) => mapInSequence(readers, (reader) => reader.languages()),
)

export const commitsAt = unscopedBatchQuery(
  { name: 'commitsAt', input: z.object(refInput) },
  (_context, readers: readonly RepositoryReader[], selector) =>
    mapInSequence(readers, (reader) => reader.commitAt(selector)),
)

export const lastCommitsAt = unscopedBatchQuery(
  { name: 'lastCommitsAt', input: z.object({ ...refInput, path: repositoryPath }) },
  (_context, readers: readonly RepositoryReader[], selector) =>
    mapInSequence(readers, (reader) => reader.lastCommit(selector)),
)

export const filesAt = unscopedBatchQuery(
  {
    name: 'filesAt',
    input: z.object({ ...refInput, paths: z.array(z.string().max(MAX_PATH_BYTES)).max(MAX_PATHS) }),
  },
  async (_context, readers: readonly RepositoryReader[], selector) => {
    const files = await mapInSequence(readers, (reader) => reader.filesAt(selector))
    return listedEach(listingOfArrays<FileOfRepository>(files), readers.length)
  },
)

/** Returns the directory of each repository, or `undefined` where the ref or the directory does not exist. */
export const treesAt = unscopedBatchQuery(
  { name: 'treesAt', input: z.object({ ...refInput, path: repositoryPath, recursive: z.boolean().nullish() }) },
  (_context, readers: readonly RepositoryReader[], selector) =>
    mapInSequence(readers, (reader) => reader.tree(selector)),
)

/** Returns the entries of trees, of one type or of all. */
export const entriesOfTrees = unscopedBatchQuery(
  { name: 'entriesOfTrees', input: z.object({ type: z.enum(['tree', 'blob', 'commit']).nullish() }) },
  async (_context, trees: readonly RepositoryTree[], { type }) =>
    listedEach(listingOfArrays(trees.map((tree) => entriesOf(tree, type))), trees.length),
)

const entriesOf = (tree: RepositoryTree, type: RepositoryTreeEntry['type'] | null | undefined): EntryOfTree[] =>
  tree.entries.filter((entry) => !type || entry.type === type).map((entry) => ({ ...entry, tree }))

/** Returns names of branches, in their order. `*` in the pattern matches any characters. */
export const branchNamesOf = unscopedBatchQuery(
  {
    name: 'branchNamesOf',
    input: z.object({
      searchPattern: z.string().max(255),
      offset: z.int().min(0),
      limit: z.int().min(0).max(MAX_BRANCH_NAMES),
    }),
  },
  (_context, readers: readonly RepositoryReader[], { searchPattern, offset, limit }) =>
    mapInSequence(readers, (reader) => reader.branchNames(searchPattern, offset, limit)),
)

/** Lists the commits of a ref, newest first. The list ends after the number of commits that a search visits. */
export const commitsOfRepositories = unscopedBatchQuery(
  {
    name: 'commitsOfRepositories',
    input: z.object({
      ...refInput,
      path: repositoryPath,
      author: z.string().max(255).nullish(),
      query: z.string().max(255).nullish(),
      committedAfter: instant.nullish(),
      committedBefore: instant.nullish(),
    }),
  },
  async (_context, readers: readonly RepositoryReader[], { ref, refKind, path, ...filter }) => {
    const selector: CommitSelector = {
      ref,
      refKind,
      path,
      author: filter.author ?? undefined,
      text: filter.query ?? undefined,
      sinceMs: filter.committedAfter ?? undefined,
      untilMs: filter.committedBefore ?? undefined,
    }
    return listedEach(listingOfSequences(readers.map((reader) => () => commitsIn(reader, selector))), readers.length)
  },
)

async function* commitsIn(reader: RepositoryReader, selector: CommitSelector) {
  for await (const commit of reader.commits(selector)) yield { ...commit, inProject: reader.project }
}

/**
 * Returns the messages of commits in input order, until `maxBytes` are used up. Users who can see a commit can see its
 * message.
 */
export const messagesOfCommits = unscopedBatchQuery(
  { name: 'messagesOfCommits', input: descriptionsInput },
  async ({ core }, commits: readonly { readonly sha: string; readonly inProject: Project }[], { maxBytes }) => {
    const given: (SizedDescription | undefined)[] = commits.map(() => undefined)
    const repositories = new Map<number, ReturnType<typeof findProjectRepository>>()
    const known = new Map<string, SizedDescription>()
    let left = maxBytes
    for (const [index, { sha, inProject }] of commits.entries()) {
      const repository = repositories.get(inProject.id) ?? findProjectRepository(core, inProject)
      repositories.set(inProject.id, repository)
      const message = known.get(sha) ?? (await messageOf(await repository, sha))
      left -= message.bytes
      if (left < 0) break
      known.set(sha, message)
      given[index] = message
    }
    return given
  },
)

async function messageOf(repository: ProjectRepository | undefined, sha: string): Promise<SizedDescription> {
  const message = (await repository?.git.commit(sha))?.message
  return { description: message, bytes: Buffer.byteLength(message ?? '') }
}

/**
 * Returns the size of each commit's changes against its first parent, or `undefined` for a commit too large to count.
 */
export const summariesOfCommits = unscopedBatchQuery(
  { name: 'summariesOfCommits', input: z.object({}) },
  async ({ core }, commits: readonly { readonly sha: string; readonly reader: RepositoryReader }[]) => {
    const summaries = new Map<RepositoryReader, Map<string, CommitSummary>>()
    for (const reader of new Set(commits.map((commit) => commit.reader))) {
      const ofReader = commits.filter((commit) => commit.reader === reader)
      summaries.set(reader, await reader.summariesOf(core, [...new Set(ofReader.map(({ sha }) => sha))]))
    }
    return commits.map(({ reader, sha }) => summaries.get(reader)?.get(sha))
  },
)

/**
 * Returns for each commit the user with the e-mail address of its author. Users are found by their public address;
 * administrators find them by any address, and users find themselves by any of their own.
 */
export const authorsOfCommits = unscopedBatchQuery(
  { name: 'authorsOfCommits', input: z.object({}) },
  async (context, commits: readonly ListedCommit[]): Promise<(User | undefined)[]> => {
    const users = await findUsersByEmail(
      context,
      commits.map(({ author }) => author.email),
      context.actor,
    )
    return commits.map(({ author }) => users.get(author.email.toLowerCase()))
  },
)

/**
 * Maps items in sequence, so that a request for many projects reads no more at a time than one for a single project.
 */
async function mapInSequence<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await read(item))
  return results
}
