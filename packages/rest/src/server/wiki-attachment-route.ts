import { groupWikiAttachments, projectWikiAttachments, type WikiFile } from '@penstock/core'
import type { ServedRoute } from '@penstock/http'
import { disposition } from '../areas/shapes/repository-shapes.ts'
import { route } from '../routing/route.ts'
import { type RowDeps, servedRow } from './served-row.ts'

/** The types of files that browsers show in a page, and which cannot contain scripts. */
const shownTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  bmp: 'image/bmp',
  ico: 'image/vnd.microsoft.icon',
  tiff: 'image/tiff',
  webp: 'image/webp',
  avif: 'image/avif',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  ogv: 'video/ogg',
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  spx: 'audio/ogg',
  wav: 'audio/wav',
}

const extensionOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1).toLowerCase()

/**
 * Browsers save a picture in SVG that they open, because it may contain scripts. In a page they show it, without running
 * them.
 */
const typeOf = (name: string): string =>
  extensionOf(name) === 'svg' ? 'image/svg+xml' : (shownTypes[extensionOf(name)] ?? 'application/octet-stream')

/** Returns the headers that keep browsers from running the file, whatever its content. */
const headers = ({ name, size }: WikiFile) => ({
  'Content-Disposition': disposition(shownTypes[extensionOf(name)] === undefined ? 'attachment' : 'inline', name),
  'Content-Length': String(size),
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
})

/**
 * Returns the routes of the attachments that wiki pages refer to, which are not below the path of the API. The one for groups
 * comes first, because the other one matches its paths too.
 */
export const wikiAttachmentRoutes = (deps: RowDeps): ServedRoute[] => [
  attachmentRoute(deps, groupWikiAttachments.get, '/groups/*parent'),
  attachmentRoute(deps, projectWikiAttachments.get, '/*parent'),
]

function attachmentRoute(deps: RowDeps, operation: typeof groupWikiAttachments.get, parentPath: string): ServedRoute {
  const row = route({
    method: 'GET',
    path: `${parentPath}/-/wikis/uploads/:directory/:file_name`,
    operation,
    summary: 'Get an attachment of a wiki.',
    content: ({ name, body }) => ({ type: typeOf(name), body }),
    headers,
    endsInName: true,
  })
  return { ...servedRow(row, deps), path: row.path }
}
