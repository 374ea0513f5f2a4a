import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { decodeRequest, type Span } from '@penstock/otlp'

const bin = createRequire(import.meta.url).resolve('@penstock/cli/bin/penstock.mjs')

/** Returns the spans of a bundle of answers of REST, as a backfill would send them. */
export function spansOfBundle(bundle: object): readonly Span[] {
  const args = [bin, 'convert', '-', '--signals', 'traces', '--service-name', 'svc-ci']
  const input = JSON.stringify(bundle)
  const lines = execFileSync(process.execPath, args, { input, encoding: 'utf8', stdio: 'pipe' }).trim().split('\n')
  return lines.flatMap((line) => spansWithResource(Buffer.from(line)))
}

/** Returns the spans of a request with JSON, with the attributes of their resource before their own. */
export const spansWithResource = (request: Uint8Array): readonly Span[] =>
  decodeRequest('traces', request, 'json').resources.flatMap(({ resource, scopes }) =>
    scopes
      .flatMap(({ items }) => items)
      .map((span) => ({ ...span, attributes: [...(resource?.attributes ?? []), ...span.attributes] })),
  )

/** Compares all fields of spans. */
export function differences(expected: readonly Span[], exported: readonly Span[]): string[] {
  const left = new Map<string, Span>(expected.map((span) => [idOf(span), span]))
  const faults: string[] = []
  for (const span of exported) {
    const wanted = left.get(idOf(span))
    if (wanted === undefined) faults.push(`${span.name} was sent twice, or by mistake`)
    else faults.push(...changes(wanted, span).map((change) => `${span.name}: ${change}`))
    left.delete(idOf(span))
  }
  return [...faults, ...[...left.values()].map(({ name }) => `${name} was lost`)]
}

/** Returns the members and attributes that differ. */
function changes({ attributes: wantedAttributes, ...wanted }: Span, { attributes, ...exported }: Span): string[] {
  const before = [...Object.entries(wanted), ...wantedAttributes.map(({ key, value }) => [key, value] as const)]
  const after = [...Object.entries(exported), ...attributes.map(({ key, value }) => [key, value] as const)]
  const names = new Set([...before, ...after].map(([name]) => name))
  const valueIn = (list: typeof before, name: string) => textOf(list.find(([each]) => each === name)?.[1])
  return [...names]
    .filter((name) => valueIn(before, name) !== valueIn(after, name))
    .map((name) => `${name} is ${valueIn(after, name)} instead of ${valueIn(before, name)}`)
}

const idOf = ({ traceId, spanId }: Span): string => `${traceId} ${spanId}`

export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member))
