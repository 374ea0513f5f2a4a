import { type Input, instanceOf, parseLossless, RecordError, readInput, recordInstance } from '@penstock/converter'

export interface ReceivedBody {
  readonly input: Input
  /** JSON of the body without the pipeline's variables, which may hold secrets. */
  readonly text: string
}

/**
 * To be called once per body, outside of any transaction.
 *
 * @param receivedAtNs for the warnings about times that it makes odd
 * @throws RecordError
 * @see spec/pipeline-telemetry.md 1.1, 1.5, 7 (58)
 */
export function readBody(text: string, receivedAtNs?: bigint): ReceivedBody {
  const body = parseLossless(text)
  const input = readInput(body, { receivedAtNs })
  requireShortHost(input)
  return { input, text: hasVariables(body, text) ? withoutVariables(body, text) : text }
}

/** Of a name in DNS and a port. Keys begin with it, and an index of PostgreSQL holds no long ones. */
const MAX_HOST_CHARACTERS = 260

function requireShortHost(input: Input): void {
  const host =
    input.kind === 'job'
      ? instanceOf(input.event.project.webUrl)
      : recordInstance(input.record, { instanceId: undefined })
  if (host.length > MAX_HOST_CHARACTERS) throw new RecordError('project.web_url', 'names too long a host')
}

/** Also of a field that was there twice, or whose name is escaped. An empty list is what most bodies have. */
function hasVariables(body: unknown, text: string): boolean {
  if (someVariables.test(text)) return true
  return holdersOfVariables(body).some((holder) => {
    const variables = fieldOf(holder, 'variables')
    return Array.isArray(variables) ? variables.length > 0 : variables !== undefined && variables !== null
  })
}

const someVariables = /"variables"\s*:(?!\s*(?:\[\s*\]|null\b))/

/**
 * Written anew from what was read, so that nothing is left of a field that was there twice. Long integers are strings
 * behind a marker meanwhile: more U+0000 than begin any string of the text, which has them escaped in this one way.
 */
function withoutVariables(body: unknown, text: string): string {
  const marker = '\0'.repeat(1 + longestNulRun(text))
  const holders = holdersOfVariables(body)
  try {
    const json = JSON.stringify(body, function (this: unknown, key, value: unknown) {
      if (key === 'variables' && holders.includes(this)) return undefined
      return typeof value === 'bigint' ? `${marker}${value}` : value
    })
    const marked = new RegExp(`"(?:\\\\u0000){${marker.length}}(-?\\d+)"`, 'g')
    return json.replace(marked, '$1')
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RecordError('', 'is nested too deeply')
  }
}

/** Of a hook, and of what a REST API tells. */
const holdersOfVariables = (body: unknown): unknown[] => [
  body,
  fieldOf(body, 'object_attributes'),
  fieldOf(body, 'pipeline'),
]

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}

function longestNulRun(json: string): number {
  let longest = 0
  for (const [run] of json.matchAll(/(?:\\u0000)+/g)) longest = Math.max(longest, run.length / 6)
  return longest
}
