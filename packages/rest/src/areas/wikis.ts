import { attachToGroupWiki, groupWikis, maxAttachmentBytes } from '@penstock/core'
import { parentNames as names } from '../routing/parent-routes.ts'
import { type Area, route } from '../routing/route.ts'
import { pageOfAll } from './parameters/lists.ts'
import { listedWikiPageShape, wikiAttachmentShape, wikiPageShape } from './shapes/wiki-shapes.ts'

/** Enough for a page of the largest default size in JSON, with each character escaped. */
const PAGE_LIMIT_BYTES = 32 * 1024 * 1024

const all = '/groups/:id/wikis'
const one = { path: `${all}/*slug`, endsInName: true } as const

export const wikisArea: Area = {
  tag: 'Group wikis',
  routes: [
    route({
      method: 'GET',
      path: all,
      operation: groupWikis.list,
      names,
      parameters: pageOfAll,
      shape: listedWikiPageShape,
      isList: true,
      summary: 'List all pages of the wiki of a group.',
    }),
    route({
      method: 'POST',
      path: all,
      operation: groupWikis.create,
      names,
      shape: wikiPageShape,
      bodyLimitBytes: PAGE_LIMIT_BYTES,
      summary: 'Create a page in the wiki of a group.',
    }),
    route({
      method: 'POST',
      path: `${all}/attachments`,
      operation: attachToGroupWiki,
      names,
      shape: wikiAttachmentShape,
      filesOnDisk: true,
      fileLimitBytes: maxAttachmentBytes,
      summary: 'Upload a file to the wiki of a group.',
    }),
    route({
      method: 'GET',
      ...one,
      operation: groupWikis.get,
      names,
      shape: wikiPageShape,
      summary: 'Get a page of the wiki of a group, or a former version of it.',
    }),
    route({
      method: 'PUT',
      ...one,
      operation: groupWikis.update,
      names,
      shape: wikiPageShape,
      bodyLimitBytes: PAGE_LIMIT_BYTES,
      summary: 'Update a page of the wiki of a group. A new title moves the page, with the pages below it.',
    }),
    route({
      method: 'DELETE',
      ...one,
      operation: groupWikis.remove,
      names,
      summary: 'Delete a page of the wiki of a group.',
    }),
  ],
}
