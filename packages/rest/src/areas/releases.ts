import {
  createRelease,
  createReleaseLink,
  getRelease,
  getReleaseLink,
  listReleaseLinks,
  listReleases,
  type Release,
  removeRelease,
  removeReleaseLink,
  updateRelease,
  updateReleaseLink,
} from '@penstock/core'
import { z } from 'zod'
import { presented } from '../routing/presented.ts'
import { type Area, route } from '../routing/route.ts'
import { orderedList, pagedList } from './parameters/lists.ts'
import { releaseLinkShape, releaseShape } from './shapes/release-shape.ts'

const names = { project: 'id' }
const releases = '/projects/:id/releases'
const one = `${releases}/:tag_name`
const links = `${one}/assets/links`
const link = `${links}/:link_id`
/** A description of a million characters, each of which JSON can write with six bytes. */
const bodyLimitBytes = 8 * 1024 * 1024

const withHtml = { includeHtmlDescription: z.boolean().default(false) }
const html = (release: Release, { includeHtmlDescription: showsHtml }: { includeHtmlDescription: boolean }) => ({
  ...release,
  showsHtml,
})
const formerName = { noEffect: { file_path: 'a field that gitbeaker lets callers send; the parameter is `filepath`' } }

export const releasesArea: Area = {
  tag: 'Releases',
  routes: [
    route({
      method: 'GET',
      path: releases,
      operation: presented(listReleases, withHtml, (page, given) => ({
        ...page,
        items: page.items.map((release) => html(release, given)),
      })),
      parameters: pagedList,
      names,
      shape: releaseShape,
      summary: 'List the releases of a project.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: one,
      operation: presented(getRelease, withHtml, html),
      names,
      endsInName: true,
      shape: releaseShape,
      summary: 'Get a release by its tag.',
      takesJobTokens: true,
    }),
    route({
      method: 'POST',
      path: releases,
      operation: createRelease,
      names,
      bodyLimitBytes,
      shape: releaseShape,
      summary: 'Create a release of a tag, which is created from `ref` if it does not exist.',
      takesJobTokens: true,
    }),
    route({
      method: 'PUT',
      path: one,
      operation: updateRelease,
      names,
      bodyLimitBytes,
      endsInName: true,
      shape: releaseShape,
      summary: 'Update a release.',
      takesJobTokens: true,
    }),
    route({
      method: 'DELETE',
      path: one,
      operation: removeRelease,
      names,
      endsInName: true,
      shape: releaseShape,
      summary: 'Delete a release. Its tag stays.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: links,
      operation: listReleaseLinks,
      parameters: orderedList,
      names,
      shape: releaseLinkShape,
      summary: 'List the links of a release, the newest first.',
      takesJobTokens: true,
    }),
    route({
      method: 'GET',
      path: link,
      operation: getReleaseLink,
      names,
      shape: releaseLinkShape,
      summary: 'Get a link of a release.',
      takesJobTokens: true,
    }),
    route({
      method: 'POST',
      path: links,
      operation: createReleaseLink,
      parameters: formerName,
      names,
      shape: releaseLinkShape,
      summary: 'Add a link to a release.',
      takesJobTokens: true,
    }),
    route({
      method: 'PUT',
      path: link,
      operation: updateReleaseLink,
      parameters: formerName,
      names,
      shape: releaseLinkShape,
      summary: 'Update a link of a release.',
      takesJobTokens: true,
    }),
    route({
      method: 'DELETE',
      path: link,
      operation: removeReleaseLink,
      names,
      shape: releaseLinkShape,
      summary: 'Delete a link of a release.',
      takesJobTokens: true,
    }),
  ],
}
