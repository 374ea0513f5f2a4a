import { linkTypes, nameOfRelease, type Release, type ReleaseLink, type ReleaseMilestone } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'
import { commitJson, commitSchema } from './commit-shape.ts'
import { escapedHtml } from './escaped-html.ts'
import { userOrNull } from './issuable-shape.ts'
import { milestoneShape } from './milestone-shape.ts'

const sourceFormats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const

export const releaseLinkShape = {
  schema: z
    .object({
      id: z.int(),
      name: z.string(),
      url: z.string(),
      direct_asset_url: z.string(),
      link_type: z.enum(linkTypes),
    })
    .meta({ id: 'ReleaseLink' }),
  of: (link: ReleaseLink, { externalUrl }: JsonContext) => ({
    id: link.id,
    name: link.name,
    url: link.url,
    direct_asset_url:
      link.filepath === undefined
        ? link.url
        : `${externalUrl}/${link.projectPath}/-/releases/${encodeURIComponent(link.tag)}/downloads${link.filepath}`,
    link_type: link.linkType,
  }),
} satisfies Shape<ReleaseLink>

const milestoneSchema = (milestoneShape.schema as z.ZodObject).extend({
  issue_stats: z.object({ total: z.int(), closed: z.int() }),
})
const milestoneJson = (milestone: ReleaseMilestone, context: JsonContext) => ({
  ...(milestoneShape.of(milestone, context) as object),
  issue_stats: { total: milestone.opened + milestone.closed, closed: milestone.closed },
})

/** Returns the addresses of lists of the issues and merge requests of a release. */
function linksOf(release: Release, { externalUrl }: JsonContext) {
  const project = `${externalUrl}/${release.projectPath}/-`
  const tag = encodeURIComponent(release.tag)
  const list = (kind: 'issues' | 'merge_requests', state: string) =>
    `${project}/${kind}?release_tag=${tag}&scope=all&state=${state}`
  return {
    closed_issues_url: list('issues', 'closed'),
    closed_merge_requests_url: list('merge_requests', 'closed'),
    ...(release.mayUpdate && { edit_url: `${project}/releases/${tag}/edit` }),
    merged_merge_requests_url: list('merge_requests', 'merged'),
    opened_issues_url: list('issues', 'opened'),
    opened_merge_requests_url: list('merge_requests', 'opened'),
    self: `${project}/releases/${tag}`,
  }
}

/** Returns the fields that require permission to read the repository. */
function codeOf(release: Release, context: JsonContext) {
  const { projectPath, projectSlug, tag, sha, commit } = release
  const rootPath = new URL(context.externalUrl).pathname.replace(/\/$/, '')
  const archive = `${context.externalUrl}/${projectPath}/-/archive/${encodeURIComponent(tag)}/${projectSlug}`
  return {
    commit: commit === undefined ? null : commitJson(commit, context),
    commit_path: `${rootPath}/${projectPath}/-/commit/${sha}`,
    tag_path: `${rootPath}/${projectPath}/-/tags/${encodeURIComponent(tag)}`,
    sources: sourceFormats.map((format) => ({
      format,
      url: `${archive}-${encodeURIComponent(tag.replaceAll('/', '-'))}.${format}`,
    })),
  }
}

/** A release, with its fields in the order of GitLab's API. */
export const releaseShape = {
  schema: z
    .object({
      /** Missing, as `commit`, the paths and the sources, without permission to read the repository. */
      tag_name: z.string().optional(),
      description: z.string().nullable(),
      name: z.string(),
      /** Only if the request had `include_html_description`. */
      description_html: z.string().optional(),
      created_at: z.string(),
      released_at: z.string(),
      upcoming_release: z.boolean(),
      author: basicUserShape.schema.nullable(),
      commit: commitSchema.nullable().optional(),
      milestones: z.array(milestoneSchema).optional(),
      commit_path: z.string().optional(),
      tag_path: z.string().optional(),
      assets: z.object({
        count: z.int(),
        sources: z.array(z.object({ format: z.enum(sourceFormats), url: z.string() })).optional(),
        links: z.array(releaseLinkShape.schema),
      }),
      evidences: z.array(z.never()).optional(),
      _links: z
        .object({
          closed_issues_url: z.string(),
          closed_merge_requests_url: z.string(),
          edit_url: z.string().optional(),
          merged_merge_requests_url: z.string(),
          opened_issues_url: z.string(),
          opened_merge_requests_url: z.string(),
          self: z.string(),
        })
        .partial(),
    })
    .meta({ id: 'Release' }),
  of: (release: Release & { readonly showsHtml?: boolean }, context: JsonContext) => {
    const { showsCode } = release
    const { sources, commit, commit_path, tag_path } = codeOf(release, context)
    return {
      ...(showsCode && { tag_name: release.tag }),
      description: release.description ?? null,
      name: nameOfRelease(release),
      ...(release.showsHtml && { description_html: escapedHtml(release.description ?? '') }),
      created_at: isoTime(release.createdAtMs),
      released_at: isoTime(release.releasedAtMs),
      upcoming_release: release.releasedAtMs > context.nowMs,
      author: userOrNull(release.author, context),
      ...(showsCode && { commit }),
      ...(release.milestones.length > 0 && {
        milestones: release.milestones.map((milestone) => milestoneJson(milestone, context)),
      }),
      ...(showsCode && { commit_path, tag_path }),
      assets: {
        count: release.links.length + (showsCode ? sources.length : 0),
        ...(showsCode && { sources }),
        // The address of a path contains the tag.
        links: release.links.map((link) =>
          releaseLinkShape.of(showsCode ? link : { ...link, filepath: undefined }, context),
        ),
      },
      // Evidence of releases is not collected.
      ...(showsCode && { evidences: [] }),
      _links: showsCode ? linksOf(release, context) : {},
    }
  },
} satisfies Shape<Release & { readonly showsHtml?: boolean }>
