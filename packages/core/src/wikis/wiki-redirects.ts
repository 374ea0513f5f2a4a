import { parse } from 'yaml'

/** The limit of the entries. The oldest ones are dropped. */
const MAX_REDIRECTS = 10_000
/** A larger file is not one of this service, and is replaced. */
export const MAX_REDIRECTS_BYTES = 16 * 1024 * 1024

/** Returns the path of the file that leads from former slugs of pages to the present ones. */
export const redirectsPath = (serviceName: string): string[] => [`.${serviceName}`, 'redirects.yml']

/** Returns the text of the file after pages have moved. An entry that leads to a former slug leads to the new one. */
export function withRedirects(text: string | undefined, moves: ReadonlyMap<string, string>): string {
  const redirects = new Map(entriesOf(text).map(([from, to]) => [from, moves.get(to) ?? to]))
  for (const [from, to] of moves) {
    // The latest one goes to the end, where the newest are.
    redirects.delete(from)
    redirects.set(from, to)
  }
  // A page is there now.
  for (const to of moves.values()) redirects.delete(to)
  const lines = [...redirects]
    .slice(-MAX_REDIRECTS)
    .map(([from, to]) => `${JSON.stringify(from)}: ${JSON.stringify(to)}`)
  return `---\n${lines.map((line) => `${line}\n`).join('')}`
}

function entriesOf(text: string | undefined): [string, string][] {
  try {
    const value: unknown = parse(text ?? '', { maxAliasCount: 0, logLevel: 'silent' })
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  } catch {
    return []
  }
}
