import type { Core, KeysetPage, Page } from '@penstock/core'
import { JsonAnswer, type Reply, type RouteRequest } from '@penstock/http'
import { heaviestMember, MAX_ANSWER_BYTES } from '@penstock/json'
import { holdsSecrets } from '../routing/holds-secrets.ts'
import { keysetHeaders, type ListRequest, pageHeaders } from '../routing/page-headers.ts'
import { noNames } from '../routing/parameter-names.ts'
import type { RequestParameters } from '../routing/request-parameters.ts'
import { type JsonContext, type RestRoute, successStatus } from '../routing/route.ts'

/** The reply of a row, or the reason why it would be too large. */
export type Built =
  | { readonly kind: 'reply'; readonly isKeyset: boolean; readonly reply: Reply }
  | {
      readonly kind: 'too_large'
      readonly isKeyset: boolean
      /** The number of rows that fit. */
      readonly fittingRows: number
      /** The member with the most text, if not even the first row fits. */
      readonly member: string | undefined
    }

export interface ReplyRequest {
  readonly row: RestRoute
  readonly request: RouteRequest
  readonly parameters: RequestParameters
  readonly core: Core
}

/** Returns the reply for the result of a row's operation. Its JSON is written while rows are converted, up to the limit. */
export async function replyTo(
  result: unknown,
  { row, request, parameters: { values }, core: { settings, clock } }: ReplyRequest,
): Promise<Built> {
  const { shape, content, operation, names = noNames } = row
  if (result === undefined) return whole({ status: 204 })
  if (row.isUnchanged?.(result)) return whole({ status: 304 })
  const status = row.isCreated?.(result) ? 201 : successStatus(row)
  if (shape === undefined && content === undefined) return whole({ status })
  const ownHeaders = row.headers?.(result)
  if (content !== undefined) {
    const { type, body } = content(result)
    return whole({ status, ...(ownHeaders && { headers: ownHeaders }), content: body, contentType: type })
  }
  const context: JsonContext = {
    externalUrl: settings.externalUrl,
    serviceName: settings.serviceName,
    nowMs: clock.nowMs(),
  }
  const of = (value: unknown) => shape!.of(value as NonNullable<unknown>, context)
  const list: ListRequest = {
    url: settings.externalUrl + encodedPath(request.path),
    input: operation.input,
    names,
    values,
  }
  const isKeyset = isKeysetPage(result)
  const answer = new JsonAnswer(MAX_ANSWER_BYTES)
  const rows = isKeyset || isPage(result) ? result.items : Array.isArray(result) ? result : undefined
  if (rows === undefined) {
    const value = of(result)
    if (!(await answer.value(value)))
      return { kind: 'too_large', isKeyset, fittingRows: 0, member: heaviestMember(value) }
  } else {
    const fittingRows = await answer.list(rows, of)
    if (fittingRows < rows.length) {
      // Conversion takes long for a row that alone is too large, so it is repeated only for that one.
      const member = fittingRows === 0 ? heaviestMember(of(rows[0])) : undefined
      return { kind: 'too_large', isKeyset, fittingRows, member }
    }
  }
  const headers = isKeyset ? keysetHeaders(result, list) : isPage(result) ? pageHeaders(result, list) : ownHeaders
  const isCompressible = row.method === 'GET' && !holdsSecrets(shape!.schema)
  const json = { content: answer.end(), contentType: 'application/json', isCompressible }
  const reply = { status, ...(headers && { headers }), ...json }
  return { kind: 'reply', isKeyset, reply }
}

/** Returns the member with the most text in the JSON of a result. */
export function heaviestMemberInResult(
  result: unknown,
  { row, core: { settings, clock } }: ReplyRequest,
): string | undefined {
  const first: unknown =
    isKeysetPage(result) || isPage(result) ? result.items[0] : Array.isArray(result) ? result[0] : result
  const { externalUrl, serviceName } = settings
  return heaviestMember(
    row.shape?.of(first as NonNullable<unknown>, { externalUrl, serviceName, nowMs: clock.nowMs() }),
  )
}

const whole = (reply: Reply): Built => ({ kind: 'reply', isKeyset: false, reply })

const has = (value: unknown, ...keys: string[]): boolean =>
  typeof value === 'object' && value !== null && keys.every((key) => key in value)
const isPage = (result: unknown): result is Page<unknown> => has(result, 'items', 'page', 'perPage', 'hasNext')
const isKeysetPage = (result: unknown): result is KeysetPage<unknown> => has(result, 'items', 'perPage', 'nextCursor')

/** Encodes characters that a client may send unescaped in a path, but that would end the URL in a Link header. */
const encodedPath = (path: string): string => path.replaceAll(/[^\x21\x23-\x3b\x3d\x3f-\x7e]/g, encodeURIComponent)
