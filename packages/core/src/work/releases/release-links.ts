import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { refused } from '../../base/git/commit-actions.ts'
import { invalid, notFound } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { newObject, type ObjectOf, validate, withInput } from '../../base/kit/field-table.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { toSingleLine } from '../../base/kit/parse-input.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { InProject, Tx } from '../../base/operations/context.ts'
import { command, query } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import {
  createLinkInput,
  type LinkInput,
  linkDraft,
  linkEvents,
  MAX_LINKS,
  type ReleaseLink,
  type ReleaseLinkRecord,
  type ReleaseRecord,
  releaseInput,
  releaseLinkInput,
  updateLinkInput,
} from './release.ts'
import { deleteLink, findRelease, insertLink, linksOfReleases, pageOfLinks, updateLinkRow } from './release-store.ts'

type LinkDraft = ObjectOf<typeof linkDraft>

const subject = (context: ReadContext, { project }: { readonly project: number | string }) =>
  getProject(context, project)
const reads = { caller: 'anyone', permission: 'read_release', subject } as const
const writes = { permission: 'write_release', subject } as const

export const listReleaseLinks = query(
  { name: 'listReleaseLinks', input: z.object({ ...releaseInput.shape, ...pageInput }), ...reads },
  async (context, { tagName, ...page }): Promise<Page<ReleaseLink>> => {
    const release = await getReleaseOfLinks(context, tagName)
    const links = await pageOfLinks(context, release.id, page)
    return { ...links, items: links.items.map((link) => shown(context, release, link)) }
  },
)

export const getReleaseLink = query(
  { name: 'getReleaseLink', input: releaseLinkInput, ...reads },
  async (context, { tagName, linkId }): Promise<ReleaseLink> => {
    const release = await getReleaseOfLinks(context, tagName)
    return shown(context, release, await getLink(context, release, linkId))
  },
)

export const createReleaseLink = command(
  { name: 'createReleaseLink', input: createLinkInput, ...writes },
  async (tx, { tagName, ...input }): Promise<ReleaseLink> => {
    const release = await getReleaseOfLinks(tx, tagName)
    const [link] = await storeLinks(tx, release, linkDrafts([input]))
    return shown(tx, release, link!)
  },
)

export const updateReleaseLink = command(
  { name: 'updateReleaseLink', input: updateLinkInput, ...writes },
  async (tx, { tagName, linkId, directAssetPath, ...input }): Promise<ReleaseLink> => {
    const release = await getReleaseOfLinks(tx, tagName)
    const before = await getLink(tx, release, linkId)
    const draft = withInput(linkDraft, before, { ...input, filepath: directAssetPath ?? input.filepath })
    validate(linkDraft, draft)
    await requireUnique(tx, release, draft, before.id)
    const after = await updateLinkRow(tx, draft)
    await recordChange(tx, linkEvents, 'updated', { before, after, projectId: tx.subject.id })
    return shown(tx, release, after)
  },
)

export const removeReleaseLink = command(
  { name: 'removeReleaseLink', input: releaseLinkInput, ...writes, isConditional: true },
  async (tx, { tagName, linkId }): Promise<ReleaseLink> => {
    const release = await getReleaseOfLinks(tx, tagName)
    const before = await getLink(tx, release, linkId)
    tx.requireUnmodified(before.updatedAtMs)
    await deleteLink(tx, before.id)
    await recordChange(tx, linkEvents, 'removed', { before, projectId: tx.subject.id })
    return shown(tx, release, before)
  },
)

/** Returns valid drafts of links. @throws DomainError `invalid` */
export function linkDrafts(inputs: readonly LinkInput[]): LinkDraft[] {
  return inputs.map(({ directAssetPath, ...input }) => {
    const name = toSingleLine(input.name)
    const draft = newObject(linkDraft, { ...input, name, filepath: directAssetPath ?? input.filepath })
    validate(linkDraft, draft)
    return draft
  })
}

/** Adds links to a release. @throws DomainError `invalid` if a name, a URL or a path is taken */
export async function storeLinks(
  tx: Tx,
  release: ReleaseRecord,
  drafts: readonly LinkDraft[],
): Promise<ReleaseLinkRecord[]> {
  const links: ReleaseLinkRecord[] = []
  for (const draft of drafts) {
    await requireUnique(tx, release, draft)
    const times = { createdAtMs: tx.nowMs, updatedAtMs: tx.nowMs }
    const link = await insertLink(tx, { releaseId: release.id, ...draft, ...times })
    await recordChange(tx, linkEvents, 'created', { after: link, projectId: release.projectId })
    links.push(link)
  }
  return links
}

async function requireUnique(context: ReadContext, { id }: ReleaseRecord, draft: LinkDraft, ownId?: number) {
  const all = await linksOfReleases(context, [id])
  if (ownId === undefined && all.length >= MAX_LINKS) throw refused(`A release can have at most ${MAX_LINKS} links`)
  const others = all.filter((link) => link.id !== ownId)
  const taken = (['name', 'url', 'filepath'] as const).filter(
    (key) => draft[key] !== undefined && others.some((link) => link[key] === draft[key]),
  )
  if (taken.length > 0) throw invalid(Object.fromEntries(taken.map((key) => [key, [errorTexts.taken]])))
}

/**
 * Returns the release with this tag. Requires permission to read the repository, because the tag is part of it.
 *
 * @throws DomainError `forbidden`, `not_found`
 */
async function getReleaseOfLinks(context: InProject, tag: string): Promise<ReleaseRecord> {
  await requirePermission(context, context.subject, 'read_repository')
  const release = await findRelease(context, context.subject, tag)
  if (release === undefined) throw notFound()
  return release
}

async function getLink(context: ReadContext, { id }: ReleaseRecord, linkId: number): Promise<ReleaseLinkRecord> {
  const link = (await linksOfReleases(context, [id])).find((each) => each.id === linkId)
  if (link === undefined) throw notFound()
  return link
}

const shown = ({ subject: { fullPath } }: InProject, { tag }: ReleaseRecord, link: ReleaseLinkRecord): ReleaseLink => ({
  ...link,
  tag,
  projectPath: fullPath,
})
