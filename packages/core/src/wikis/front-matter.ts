import { parse, stringify } from 'yaml'

/** The values in the block of YAML at the beginning of a page. */
export type FrontMatter = Readonly<Record<string, unknown>>

/** A longer block is content. */
const MAX_LENGTH = 65_536

/** Returns the length of the block, with the lines of hyphens around it; 0 if there is none. */
function blockOf(content: string): { readonly length: number; readonly yaml: string } {
  const head = content.slice(0, MAX_LENGTH)
  const opening = /^\ufeff?---[ \t]*\r?\n/.exec(head)?.[0]
  const rest = head.slice(opening?.length)
  const closing = opening === undefined ? null : /^---[ \t]*$/m.exec(rest)
  if (closing === null) return { length: 0, yaml: '' }
  const lineBreak = /^\r?\n/.exec(rest.slice(closing.index + closing[0].length))?.[0] ?? ''
  const length = opening!.length + closing.index + closing[0].length + lineBreak.length
  return { length, yaml: rest.slice(0, closing.index) }
}

/** Returns the values in the block at the beginning of the content; none if it is not YAML of an object. */
export function frontMatterOf(content: string): FrontMatter {
  const { yaml } = blockOf(content)
  try {
    // Aliases are refused: a short text with many of them stands for a very long one.
    const value: unknown = JSON.parse(JSON.stringify(parse(yaml, { maxAliasCount: 0, logLevel: 'silent' })) ?? 'null')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as FrontMatter) : {}
  } catch {
    return {}
  }
}

/** Returns the content without its block. */
export const withoutFrontMatter = (content: string): string => content.slice(blockOf(content).length)

/** Returns the content with a title in its block, or without one. The other values of the block are kept. */
export function withFrontMatterTitle(content: string, title: string | null | undefined): string {
  const { title: _, ...others } = frontMatterOf(content)
  const values = title == null || title.trim() === '' ? others : { title, ...others }
  const body = withoutFrontMatter(content)
  return Object.keys(values).length === 0 ? body : `---\n${stringify(values, { lineWidth: 0 })}---\n${body}`
}
