import type { HtmlElement, HtmlRoot } from './html/html-tree.ts'
import { findReferences, type Reference } from './references.ts'

/** The elements in which a `#12` is no reference. */
const opaque = new Set(['a', 'code', 'pre', 'kbd', 'samp', 'tt', 'var'])

/**
 * Replaces each reference outside links and code with a mark that contains the number of the reference in the result. Equal
 * references have one number.
 *
 * @param mark returns the mark for a number; its text must not occur in the tree
 */
export function markReferences(root: HtmlRoot, max: number, mark: (index: number) => string): Reference[] {
  const found = new Map<string, number>()
  const references: Reference[] = []
  const numberOf = (reference: Reference): number | undefined => {
    const known = found.get(reference.text)
    if (known !== undefined || references.length >= max) return known
    found.set(reference.text, references.length)
    return references.push(reference) - 1
  }
  const stack: (HtmlRoot | HtmlElement)[] = [root]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    // Children are read from the last, so that those of the first are taken from the stack first.
    for (const child of node.children.toReversed()) {
      if (child.type === 'element' && !opaque.has(child.tagName)) stack.push(child)
    }
    for (const child of node.children) {
      if (child.type === 'text') child.value = marked(child.value, numberOf, mark)
    }
  }
  return references
}

function marked(
  text: string,
  numberOf: (reference: Reference) => number | undefined,
  mark: (index: number) => string,
): string {
  let result = ''
  let end = 0
  for (const { at, reference } of findReferences(text)) {
    const index = numberOf(reference)
    if (index === undefined) continue
    result += text.slice(end, at) + mark(index)
    end = at + reference.text.length
  }
  return result + text.slice(end)
}
