import { parseInput } from '@penstock/core'
import { parseJson } from '@penstock/http'
import { noNames } from './parameter-names.ts'
import type { RestRoute } from './route.ts'
import { documentInput } from './to-input.ts'

/**
 * Parses the document in the body of a request, and validates it together with the parameters of the path.
 *
 * @param inPath the parameters of the path, with the operation's names
 * @throws RequestProblem invalid_json; DomainError `parameters`
 */
export function readDocument(row: RestRoute, bytes: Uint8Array, inPath: object): object {
  const { operation, names = noNames, bodyTextAs } = row
  const { text, value } = parseJson(bytes)
  return parseInput(operation.input, {
    ...documentInput(operation.input, names, value),
    ...(bodyTextAs !== undefined && { [bodyTextAs]: text }),
    ...inPath,
  })
}
