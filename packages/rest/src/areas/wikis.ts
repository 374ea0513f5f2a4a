import {
  groupWikiAttachments,
  groupWikis,
  maxAttachmentBytes,
  projectWikiAttachments,
  projectWikis,
} from '@penstock/core'
import { parentNames as names, type ParentKind } from '../routing/parent-routes.ts'
import { type Area, type RestRoute, route } from '../routing/route.ts'
import { pageOfAll } from './parameters/lists.ts'
import { listedWikiPageShape, wikiAttachmentShape, wikiPageShape } from './shapes/wiki-shapes.ts'

/** Enough for a page of the largest default size in JSON, with each character escaped. */
const PAGE_LIMIT_BYTES = 32 * 1024 * 1024

const operations = {
  group: { pages: groupWikis, attachments: groupWikiAttachments },
  project: { pages: projectWikis, attachments: projectWikiAttachments },
} as const

function routesOf(kind: ParentKind): RestRoute[] {
  const { pages, attachments } = operations[kind]
  const all = `/${kind}s/:id/wikis`
  const one = { path: `${all}/*slug`, endsInName: true } as const
  return [
    route({
      method: 'GET',
      path: all,
      operation: pages.list,
      names,
      parameters: pageOfAll,
      shape: listedWikiPageShape,
      isList: true,
      summary: `List all pages of the wiki of a ${kind}.`,
    }),
    route({
      method: 'POST',
      path: all,
      operation: pages.create,
      names,
      shape: wikiPageShape,
      bodyLimitBytes: PAGE_LIMIT_BYTES,
      summary: `Create a page in the wiki of a ${kind}.`,
    }),
    route({
      method: 'POST',
      path: `${all}/attachments`,
      operation: attachments.attach,
      names,
      shape: wikiAttachmentShape,
      filesOnDisk: true,
      fileLimitBytes: maxAttachmentBytes,
      summary: `Upload a file to the wiki of a ${kind}.`,
    }),
    route({
      method: 'GET',
      ...one,
      operation: pages.get,
      names,
      shape: wikiPageShape,
      summary: `Get a page of the wiki of a ${kind}, or a former version of it.`,
    }),
    route({
      method: 'PUT',
      ...one,
      operation: pages.update,
      names,
      shape: wikiPageShape,
      bodyLimitBytes: PAGE_LIMIT_BYTES,
      summary: `Update a page of the wiki of a ${kind}. A new title moves the page, with the pages below it.`,
    }),
    route({
      method: 'DELETE',
      ...one,
      operation: pages.remove,
      names,
      summary: `Delete a page of the wiki of a ${kind}.`,
    }),
  ]
}

export const wikisArea: Area = { tag: 'Wikis', routes: [...routesOf('group'), ...routesOf('project')] }
