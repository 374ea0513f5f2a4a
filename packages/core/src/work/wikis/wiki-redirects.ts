/** The limit of the entries, because each move writes all of them again. The oldest ones are dropped. */
const MAX_REDIRECTS = 2_000
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

/** A key and a value, each in double quotes, in single quotes, or plain. */
const entryLine =
  /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#:][^:]*):[ \t]+("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#].*)$/

/**
 * Returns the entries of a text in YAML that has one in each line. A parser of all YAML takes seconds for thousands of them,
 * and forever for texts that are made for that.
 */
function entriesOf(text = ''): [string, string][] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, key, value] = entryLine.exec(line.trimEnd()) ?? []
    const [from, to] = [scalarOf(key), scalarOf(value)]
    return from === undefined || to === undefined ? [] : [[from, to]]
  })
}

function scalarOf(text: string | undefined): string | undefined {
  if (text?.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'")
  if (!text?.startsWith('"')) return text
  try {
    return JSON.parse(text) as string
  } catch {
    return undefined
  }
}
