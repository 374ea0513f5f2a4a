import type { Core } from '@penstock/core'
import { captchaAnswerIn, type Incoming, type RouteRequest, urlEncodedEntries } from '@penstock/http'
import { HEADER_INPUT, noNames, parametersOf } from '../routing/parameter-names.ts'
import { mergeParameters, type RequestParameters } from '../routing/request-parameters.ts'
import { RestError } from '../routing/rest-error.ts'
import type { RestRoute } from '../routing/route.ts'
import { requireSupported } from '../routing/route-parameters.ts'
import { shapeOf } from '../routing/schema-traits.ts'
import { toInput } from '../routing/to-input.ts'
import type { DocumentReader } from './document-reader.ts'

export interface InputDeps {
  readonly core: Core
  readonly documents: Pick<DocumentReader, 'read'>
}

/** Returns the parameters of the query, the only ones that are known before the body arrives. */
export const queryParameters = (incoming: Incoming): RequestParameters['values'] =>
  mergeParameters({ query: queryOf(incoming), path: {} }).values

/** Returns the parameters of a request with its body. If the body is a document, only the path has parameters. */
export function requestParameters(row: RestRoute, request: RouteRequest): RequestParameters {
  const { form, body } = request
  const params = decodedTwice(request.params, row.encodedTwice)
  if (row.bodyTextAs !== undefined) return mergeParameters({ query: [], path: params })
  return mergeParameters({ query: queryOf(request), form, body, path: params })
}

/** Decodes the given parameters a second time if they are still encoded. */
function decodedTwice(params: RouteRequest['params'], names: readonly string[] = []): RouteRequest['params'] {
  const again = names.filter((name) => /%[0-9a-f]{2}/i.test(params[name] ?? ''))
  return again.length === 0
    ? params
    : { ...params, ...Object.fromEntries(again.map((name) => [name, decoded(params[name]!)])) }
}

/** Returns the decoded text, or the text itself if the decoded bytes are not valid UTF-8. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const queryOf = ({ search }: Incoming) => urlEncodedEntries(search.slice(1))

/** Rejects a `format` other than JSON, unless the route has a parameter with that name. @throws RestError 406 */
export function requireJsonFormat(row: RestRoute, incoming: Incoming): void {
  if (!/format|%/.test(incoming.search)) return
  const { format } = queryParameters(incoming)
  if (format === undefined || format === 'json') return
  if (parametersOf(row.operation.input, row.names).some(({ name }) => name === 'format')) return
  const shown = typeof format === 'string' ? format : ''
  throw new RestError(406, { error: `The requested format '${shown}' is not supported.` })
}

/** Returns the input of the row's operation. A document is already validated. @throws DomainError, RequestProblem, RestError 400 */
export async function operationInput(
  row: RestRoute,
  request: RouteRequest,
  parameters: RequestParameters,
  { core, documents }: InputDeps,
): Promise<object> {
  const { operation, names = noNames, bodyTextAs } = row
  requireSupported(row, parameters.values)
  const values = { ...toInput(operation.input, names, parameters), ...captchaOf(row, request, core) }
  return bodyTextAs === undefined ? values : documents.read(row, request.bytes ?? emptyDocument, values)
}

/** The document that replaces a missing body, so that the error lists the missing members. */
const emptyDocument = Buffer.from('{}')

/** Returns the CAPTCHA answer in the headers, for a request that is repeated after it was rejected as spam. */
function captchaOf({ operation }: RestRoute, { raw }: RouteRequest, { settings }: Core) {
  if (!Object.hasOwn(shapeOf(operation.input) ?? {}, HEADER_INPUT)) return {}
  const captcha = captchaAnswerIn(raw.headers, settings.serviceName)
  return captcha && { [HEADER_INPUT]: captcha }
}
