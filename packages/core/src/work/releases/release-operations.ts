import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { refused } from '../../base/git/commit-actions.ts'
import { findReference } from '../../base/git/git-reference.ts'
import { DomainError, forbidden, notFound } from '../../base/kit/domain-error.ts'
import { newObject, validate, withInput } from '../../base/kit/field-table.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { instant, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { query, type StepsContext, steps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { addTag } from '../../code/repositories/tag-operations.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import {
  createReleaseInput,
  type Release,
  type ReleaseRecord,
  releaseDraft,
  releaseEvents,
  releaseInput,
  releaseOrders,
  updateReleaseInput,
} from './release.ts'
import { linkDrafts, storeLinks } from './release-links.ts'
import {
  deleteRelease,
  findRelease,
  insertRelease,
  milestonesByRelease,
  milestonesOfProject,
  pageOfReleases,
  setMilestones,
  updateReleaseRow,
} from './release-store.ts'
import { shownReleases } from './shown-release.ts'

const subject = (context: ReadContext, { project }: { readonly project: number | string }) =>
  getProject(context, project)
const reads = { permission: 'read_release', subject } as const
const writes = { permission: 'write_release', subject } as const

export const listReleases = query(
  {
    name: 'listReleases',
    caller: 'anyone',
    input: z.object({
      project: namespaceRef,
      ...releaseOrders,
      updatedAfter: instant.optional(),
      updatedBefore: instant.optional(),
      ...pageInput,
    }),
    ...reads,
  },
  async (context, input): Promise<Page<Release>> => {
    const page = await pageOfReleases(context, context.subject, input)
    return { ...page, items: await shownReleases(context, page.items) }
  },
)

/** Returns the release with this tag. Requires permission to read the repository, because the tag is part of it. */
export const getRelease = query(
  { name: 'getRelease', caller: 'anyone', input: releaseInput, ...reads },
  async (context, { tagName }): Promise<Release> => {
    await requirePermission(context, context.subject, 'read_repository')
    const release = await findRelease(context, context.subject, tagName)
    if (release === undefined) throw notFound()
    return (await shownReleases(context, [release]))[0]!
  },
)

/** Creates a release of a tag, and the tag if it does not exist yet. */
export const createRelease = steps(
  { name: 'createRelease', input: createReleaseInput, ...writes },
  async (context, input): Promise<Release> => {
    const { core, subject: project } = context
    const { tagName: tag, ref, tagMessage: message } = input
    const draft = newObject(releaseDraft, input)
    validate(releaseDraft, draft)
    const links = linkDrafts(input.assets?.links ?? [])
    if ((await findRelease(context, project, tag)) !== undefined) throw exists()
    // Checked before the tag is made; read again with the release, because a milestone may be removed in between.
    await milestonesAfter(context, project, input)
    const sha = await shaOfTag(context, tag)
    // A tag is a change of the repository, which can be disabled while releases are not.
    const needed = sha === undefined ? (['write_release', 'push_code'] as const) : (['write_release'] as const)
    for (const permission of needed) await requirePermission(context, project, permission)
    const store = async (tx: ReleaseTx, commit: string): Promise<ReleaseRecord> => {
      const now = await getProject(tx, project.id)
      for (const permission of needed) await requirePermission(tx, now, permission)
      if ((await findRelease(tx, now, tag)) !== undefined) throw exists()
      const milestoneIds = (await milestonesAfter(tx, now, input)) ?? []
      const release = await insertRelease(tx, {
        projectId: now.id,
        tag,
        ...draft,
        authorId: tx.actor!.id,
        sha: commit,
        releasedAtMs: input.releasedAt ?? tx.nowMs,
        createdAtMs: tx.nowMs,
        updatedAtMs: tx.nowMs,
      })
      await setMilestones(tx, release.id, milestoneIds)
      await storeLinks(tx, release, links)
      await recordChange(tx, releaseEvents, 'created', { after: { ...release, milestoneIds }, projectId: now.id })
      return release
    }
    if (sha === undefined && !ref) throw new DomainError({ code: 'impossible', message: 'Ref is not specified' })
    const release =
      sha === undefined
        ? await addTag(context, { name: tag, ref: ref!, message: message ?? undefined }, store)
        : await context.write((tx) => store(tx, sha))
    return (await shownReleases({ ...context, db: core.db.read }, [release]))[0]!
  },
)

export const updateRelease = steps(
  { name: 'updateRelease', input: updateReleaseInput, ...writes },
  async (context, input): Promise<Release> => {
    const release = await context.write(async (tx) => {
      const project = await getProject(tx, context.subject.id)
      const before = await releaseToWrite(tx, project, input.tagName)
      const draft = withInput(releaseDraft, before, input)
      validate(releaseDraft, draft)
      const milestoneIds = (await milestonesAfter(tx, project, input)) ?? before.milestoneIds
      const releasedAtMs = input.releasedAt ?? before.releasedAtMs
      const after = { ...(await updateReleaseRow(tx, { ...draft, releasedAtMs })), milestoneIds }
      await setMilestones(tx, after.id, milestoneIds)
      await recordChange(tx, releaseEvents, 'updated', { before, after, projectId: project.id })
      return after
    })
    return (await shownReleases(context, [release]))[0]!
  },
)

/** Removes a release. Its tag stays. */
export const removeRelease = steps(
  { name: 'removeRelease', input: releaseInput, ...writes, isConditional: true },
  async (context, { tagName }): Promise<Release> => {
    const found = await findRelease(context, context.subject, tagName)
    if (found === undefined) throw forbidden()
    const [shown] = await shownReleases(context, [found])
    await context.write(async (tx) => {
      const project = await getProject(tx, context.subject.id)
      const before = await releaseToWrite(tx, project, tagName)
      tx.requireUnmodified(before.updatedAtMs)
      await deleteRelease(tx, before.id)
      await recordChange(tx, releaseEvents, 'removed', { before, projectId: project.id })
    })
    return shown!
  },
)

type ReleaseTx = Parameters<Parameters<StepsContext['write']>[0]>[0]

const exists = () => new DomainError({ code: 'conflict', reason: 'Release already exists' })

async function releaseToWrite(tx: ReleaseTx, project: Project, tag: string) {
  await requirePermission(tx, project, 'write_release')
  const release = await findRelease(tx, project, tag)
  // GitLab checks the permission on the release, so that a missing one is forbidden to everyone.
  if (release === undefined) throw forbidden()
  return { ...release, milestoneIds: (await milestonesByRelease(tx, [release.id])).get(release.id)! }
}

/** Returns the commit of a tag. */
async function shaOfTag({ core, subject: project }: StepsContext & { subject: Project }, tag: string) {
  const repository = await findProjectRepository(core, project)
  const oid = repository && (await findReference(repository.git, 'tags', tag))
  return oid === undefined ? undefined : repository!.git.commitNamedBy(oid)
}

/** Returns the milestones that the input names; `undefined` if it names none. @throws DomainError `refused` */
async function milestonesAfter(
  context: ReadContext | Tx,
  project: Project,
  {
    milestones,
    milestoneIds,
  }: {
    readonly milestones?: readonly string[] | null | undefined
    readonly milestoneIds?: readonly number[] | null | undefined
  },
): Promise<number[] | undefined> {
  if (milestones === undefined && milestoneIds === undefined) return undefined
  if (milestoneIds !== undefined) {
    const ids = [...new Set(milestoneIds ?? [])]
    const found = new Set((await milestonesOfProject(context, project, { ids })).map(({ id }) => id))
    return known(ids, (id) => found.has(id))
  }
  const titles = [...new Set(milestones ?? [])]
  const found = await milestonesOfProject(context, project, { titles })
  known(titles, (title) => found.some((milestone) => milestone.title === title))
  return found.map(({ id }) => id)
}

function known<Wanted>(wanted: Wanted[], isKnown: (each: Wanted) => boolean): Wanted[] {
  const missing = wanted.filter((each) => !isKnown(each))
  if (missing.length > 0) throw refused(`Milestone(s) not found: ${missing.join(', ')}`)
  return wanted
}
