import type { Core, KeysetPage, Page } from '@penstock/core'
import type { Reply, RouteRequest } from '@penstock/http'
import { keysetHeaders, type ListRequest, pageHeaders } from '../routing/page-headers.ts'
import { noNames } from '../routing/parameter-names.ts'
import type { RequestParameters } from '../routing/request-parameters.ts'
import { type JsonContext, type RestRoute, successStatus } from '../routing/route.ts'

/** Returns the reply for the result of a row's operation. */
export function replyTo(
  row: RestRoute,
  result: unknown,
  request: RouteRequest,
  { values }: RequestParameters,
  { settings, clock }: Core,
): Reply {
  const { shape, content, operation, names = noNames } = row
  if (result === undefined) return { status: 204 }
  if (row.isUnchanged?.(result)) return { status: 304 }
  const status = row.isCreated?.(result) ? 201 : successStatus(row)
  if (shape === undefined && content === undefined) return { status }
  const headers = row.headers?.(result)
  if (content !== undefined) {
    const { type, body } = content(result)
    return { status, ...(headers && { headers }), content: body, contentType: type }
  }
  const context: JsonContext = {
    externalUrl: settings.externalUrl,
    serviceName: settings.serviceName,
    nowMs: clock.nowMs(),
  }
  const of = (value: unknown) => shape!.of(value as never, context)
  const list: ListRequest = {
    url: settings.externalUrl + encodedPath(request.path),
    input: operation.input,
    names,
    values,
  }
  if (isKeysetPage(result)) return { status, headers: keysetHeaders(result, list), json: result.items.map(of) }
  if (isPage(result)) return { status, headers: pageHeaders(result, list), json: result.items.map(of) }
  return { status, ...(headers && { headers }), json: Array.isArray(result) ? result.map(of) : of(result) }
}

const has = (value: unknown, ...keys: string[]): boolean =>
  typeof value === 'object' && value !== null && keys.every((key) => key in value)
const isPage = (result: unknown): result is Page<unknown> => has(result, 'items', 'page', 'perPage', 'hasNext')
const isKeysetPage = (result: unknown): result is KeysetPage<unknown> => has(result, 'items', 'perPage', 'nextCursor')

/** Encodes characters that a client may send unescaped in a path, but that would end the URL in a Link header. */
const encodedPath = (path: string): string => path.replaceAll(/[^\x21\x23-\x3b\x3d\x3f-\x7e]/g, encodeURIComponent)
