import { Lexer, parseDocument, stringify } from 'yaml'

/** The values in the block of YAML at the beginning of a page. */
export type FrontMatter = Readonly<Record<string, unknown>>

/** A longer block is content. */
const MAX_LENGTH = 8_192
/** The limits of the YAML. Its parser takes time and memory far beyond proportion for texts that are made for that. */
const MAX_TOKENS = 2_000
const MAX_DEPTH = 16

interface Block {
  /** The length of the block with the lines of hyphens around it; 0 if there is none. */
  readonly length: number
  readonly values: FrontMatter
}

const none: Block = { length: 0, values: {} }

/** Returns the block at the beginning of the content. Text between lines of hyphens that is not YAML of an object is content. */
function blockOf(content: string): Block {
  const head = content.slice(0, MAX_LENGTH)
  const opening = /^\ufeff?---[ \t]*\r?\n/.exec(head)?.[0]
  const rest = head.slice(opening?.length)
  const closing = opening === undefined ? null : /^---[ \t]*$/m.exec(rest)
  if (closing === null) return none
  const lineBreak = /^\r?\n/.exec(rest.slice(closing.index + closing[0].length))?.[0] ?? ''
  const values = valuesIn(rest.slice(0, closing.index))
  return values === undefined
    ? none
    : { length: opening!.length + closing.index + closing[0].length + lineBreak.length, values }
}

/** Returns the values in a text, which may be empty; `undefined` if it is not YAML of an object. */
function valuesIn(yaml: string): FrontMatter | undefined {
  if (!isSimple(yaml)) return undefined
  try {
    const document = parseDocument(yaml, { logLevel: 'silent' })
    if (document.errors.length > 0) return undefined
    // Aliases are refused: a short text with many of them represents a very long one.
    const value: unknown = JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: 0 }) ?? {}))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as FrontMatter) : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a text has few tokens, little nesting in one line, and no key that begins with `?`, which can be nested too. */
function isSimple(yaml: string): boolean {
  let [tokens, flowDepth, inLine] = [0, 0, 0]
  for (const token of new Lexer().lex(yaml)) {
    tokens += 1
    if (token === '[' || token === '{') flowDepth += 1
    else if (token === ']' || token === '}') flowDepth -= 1
    else if (token === '-' || token === ':') inLine += 1
    else if (token === '\n' || token === '\r\n' || token === ',') inLine = 0
    if (token === '?' || tokens > MAX_TOKENS || flowDepth > MAX_DEPTH || inLine > MAX_DEPTH) return false
  }
  return true
}

/** Returns the values in the block at the beginning of the content; none if it has no block. */
export const frontMatterOf = (content: string): FrontMatter => blockOf(content).values

/** Returns the content without its block. */
export const withoutFrontMatter = (content: string): string => content.slice(blockOf(content).length)

/** Returns the content with a title in its block, or without one. The other values of the block are kept. */
export function withFrontMatterTitle(content: string, title: string | null | undefined): string {
  const { length, values: former } = blockOf(content)
  const { title: _, ...others } = former
  const values = title == null || title.trim() === '' ? others : { title, ...others }
  const body = content.slice(length)
  return Object.keys(values).length === 0 ? body : `---\n${stringify(values, { lineWidth: 0 })}---\n${body}`
}
