import { exceededJsonLimit, type JsonLimits, jsonExcess } from '@penstock/json'

/**
 * The limits of a request's JSON, which are checked on its bytes before it is parsed. The outermost value is one of the
 * values.
 */
export const graphqlJsonLimits: JsonLimits = {
  containers: 20_000,
  values: 100_001,
  depth: 32,
  elements: 50_000,
  // GitLab allows 50,000 in one object, but `JSON.parse` of that number takes longer than a turn of the event loop may take.
  members: 20_000,
  digits: 1_000,
}

/**
 * Parses JSON from the text of a form field or a parameter.
 *
 * @throws SyntaxError; the error that `toError` creates if the text exceeds a limit
 */
export function parseLimitedJson(text: string, toError: (message: string) => Error): unknown {
  const excess = exceededJsonLimit(Buffer.from(text), graphqlJsonLimits)
  if (excess !== undefined) throw toError(`JSON ${jsonExcess(excess, graphqlJsonLimits[excess])}`)
  return JSON.parse(text)
}
