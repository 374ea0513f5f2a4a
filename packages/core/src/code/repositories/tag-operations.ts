import { z } from 'zod'
import { refused } from '../../base/git/commit-actions.ts'
import { type Signature, signatureAt } from '../../base/git/git-object.ts'
import { findReference, type GitReference, listReferences, moveReference } from '../../base/git/git-reference.ts'
import type { GitRepository, WritableRepository } from '../../base/git/git-repository.ts'
import { isRefName } from '../../base/git/repository-path.ts'
import { findRevision } from '../../base/git/revision.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { inBatches } from '../../base/kit/in-batches.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { Project } from '../../base/model/project.ts'
import type { CallContext, Tx } from '../../base/operations/context.ts'
import { query, type StepsContext, steps } from '../../base/operations/operation.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { changeProjectRepository } from './change-project-repository.ts'
import { type Commit, commitOfProject } from './commit.ts'
import { pageOfArray, requireCommitter, revision } from './commit-operations.ts'
import type { Committer } from './commit-to-branch.ts'
import { matchesSearch, withMatchingName } from './name-search.ts'
import { findProjectRepository } from './project-repository.ts'
import { authoredAtMs, recordPush } from './repository-store.ts'

const MAX_MESSAGE_LENGTH = 1_048_576

export interface Tag {
  readonly name: string
  /** The id of the tag object of an annotated tag, else that of the commit. */
  readonly target: string
  readonly commit: Commit
  /** `undefined` for a lightweight tag. */
  readonly annotation: { readonly message: string; readonly tagger: Signature | undefined } | undefined
}

const tagOrders = ['name', 'updated', 'version'] as const

export const listTags = query(
  {
    name: 'listTags',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      search: z.string().max(255).nullish(),
      orderBy: z.enum(tagOrders).default('updated'),
      sort: z.enum(['asc', 'desc']).default('desc'),
      ...pageInput,
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { search, orderBy, sort, page, perPage }): Promise<Page<Tag>> => {
    const repository = await findProjectRepository(core, subject)
    const all = repository === undefined ? [] : await listReferences(repository.git, 'tags')
    const found = await tagsOf(
      repository?.git,
      subject,
      search ? await withMatchingName(all, (name) => matchesSearch(search, name), core.clock) : all,
    )
    const sorted = found.toSorted((a, b) => compare[orderBy](a, b) || compare.name(a, b))
    return pageOfArray(sort === 'asc' ? sorted : sorted.reverse(), { page, perPage })
  },
)

export const getTag = query(
  {
    name: 'getTag',
    caller: 'anyone',
    input: z.object({ project: namespaceRef, tagName: revision }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'read_repository',
  },
  async ({ core, subject }, { tagName: name }): Promise<Tag> => {
    const repository = await findProjectRepository(core, subject)
    const oid = repository && (await findReference(repository.git, 'tags', name))
    const [tag] = oid === undefined ? [] : await tagsOf(repository?.git, subject, [{ name, oid }])
    if (tag === undefined) throw notFound('Tag')
    return tag
  },
)

export const createTag = steps(
  {
    name: 'createTag',
    input: z.object({
      project: namespaceRef,
      tagName: z.string().min(1),
      ref: revision,
      /** Creates an annotated tag with this message. */
      message: z.string().max(MAX_MESSAGE_LENGTH).nullish(),
    }),
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  async (context, { tagName: name, ref, message }): Promise<Tag> => {
    const { core, subject } = context
    const oid = await addTag(context, { name, ref, message: message || undefined }, async (_tx, _commit, tag) => tag)
    const repository = await findProjectRepository(core, subject)
    return (await tagsOf(repository?.git, subject, [{ name, oid }]))[0]!
  },
)

interface NewTag {
  readonly name: string
  readonly ref: string
  /** Makes it an annotated tag. */
  readonly message: string | undefined
}

/**
 * Adds a tag, together with the rows that `store` writes.
 *
 * @param store gets the ids of the commit and of the tag, which are the same for a lightweight tag
 * @throws DomainError `refused`, and what `store` throws
 */
export async function addTag<Result>(
  context: StepsContext & { readonly subject: Project },
  { name, ref, message }: NewTag,
  store: (tx: CallContext & Tx, commit: string, tag: string) => Promise<Result>,
): Promise<Result> {
  const { core, subject, nowMs } = context
  const committer = await requireCommitter(context)
  if (!isRefName(name)) throw refused('The tag name is not a valid name of a tag')
  const repository = await findProjectRepository(core, subject)
  if (repository === undefined) throw refused('The repository is empty: create a first commit before a tag')
  return changeProjectRepository(context, subject, async (writable) => {
    const commit = await findRevision(writable, ref, repository.defaultBranch)
    if (commit === undefined) throw refused('There is no branch, tag or commit to tag with that name')
    const to = message ? await annotate(writable, { name, commit, message, committer, nowMs }) : commit
    const outcome = await moveReference(writable, 'tags', { name, from: undefined, to })
    if (outcome === 'not_as_expected') throw refused(`A tag called ${name} already exists`)
    if (outcome === 'name_in_use') throw refused(`The tag name ${name} conflicts with the name of another tag`)
    const place = { projectId: subject.id, actorId: committer.id, kind: 'tags', name } as const
    return async (tx) => {
      await recordPush(tx, { ...place, before: undefined, after: to })
      return store(tx as CallContext & Tx, commit, to)
    }
  })
}

export const removeTag = steps(
  {
    name: 'removeTag',
    input: z.object({ project: namespaceRef, tagName: revision }),
    isConditional: true,
    subject: (context, { project }) => getProject(context, project),
    permission: 'push_code',
  },
  async (context, { tagName: name }): Promise<void> => {
    const { core, subject } = context
    const { id: actorId } = await requireCommitter(context)
    if ((await findProjectRepository(core, subject)) === undefined) throw notFound('Tag')
    await changeProjectRepository(context, subject, async (writable) => {
      const before = await findReference(writable, 'tags', name)
      if (before === undefined) throw notFound('Tag')
      const sha = await writable.commitNamedBy(before)
      context.requireUnmodified(sha === undefined ? undefined : authoredAtMs(await writable.commit(sha)))
      await moveReference(writable, 'tags', { name, from: before, to: undefined })
      const push = { projectId: subject.id, actorId, kind: 'tags', name, before, after: undefined } as const
      return (tx) => recordPush(tx, push)
    })
  },
)

const updatedSeconds = ({ annotation, commit }: Tag): number =>
  annotation?.tagger?.atSeconds ?? commit.committer.atSeconds

const compare = {
  name: (a: Tag, b: Tag) => (a.name < b.name ? -1 : Number(a.name > b.name)),
  updated: (a: Tag, b: Tag) => updatedSeconds(a) - updatedSeconds(b),
  version: (a: Tag, b: Tag) => a.name.localeCompare(b.name, 'en', { numeric: true }),
} satisfies Record<(typeof tagOrders)[number], (a: Tag, b: Tag) => number>

interface Annotation {
  readonly name: string
  readonly commit: string
  readonly message: string
  readonly committer: Committer
  readonly nowMs: number
}

function annotate(
  repository: WritableRepository,
  { name, commit, message, committer, nowMs }: Annotation,
): Promise<string> {
  return repository.writeTag({ target: commit, name, tagger: signatureAt(committer, nowMs), message })
}

/**
 * Returns the tags to which the references refer. Tags of trees and blobs, which only Git itself can create, are left
 * out.
 */
async function tagsOf(
  git: GitRepository | undefined,
  project: Project,
  references: readonly GitReference[],
): Promise<Tag[]> {
  if (git === undefined) return []
  const tags = await inBatches(references, async ({ name, oid }): Promise<Tag | undefined> => {
    const sha = await git.commitNamedBy(oid)
    if (sha === undefined) return undefined
    const commit = commitOfProject(project, { oid: sha, ...(await git.shownCommit(sha)) }, { withTrailers: false })
    return { name, target: oid, commit, annotation: oid === sha ? undefined : await git.tag(oid) }
  })
  return tags.filter((tag) => tag !== undefined)
}
