/** A mention of something of the service in a text, such as `#12` or `@ada`. */
export type Reference =
  | {
      readonly kind: 'issue' | 'merge_request'
      readonly project: string | undefined
      readonly iid: number
      readonly text: string
    }
  | { readonly kind: 'label'; readonly project: string | undefined; readonly name: string; readonly text: string }
  | { readonly kind: 'user'; readonly name: string; readonly text: string }

/** The link that a reference becomes if the caller may see its target. */
export interface ReferenceLink {
  readonly href: string
  /** The hint of the link, such as the title of the issue. */
  readonly title?: string | undefined
  /** The text of the link. Absent: the text of the reference. */
  readonly text?: string | undefined
}

/**
 * Answers which references become links: one entry per reference, in their order. `undefined` leaves the text as it is, and is
 * also the answer for what the caller may not see.
 */
export type ReferenceResolver = (references: readonly Reference[]) => Promise<readonly (ReferenceLink | undefined)[]>

const PATH = String.raw`[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,254}(?:/[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,254}){0,20}`
/** A reference that no letter, digit or sign of a reference or a path precedes. */
const REFERENCE = new RegExp(
  String.raw`(?<![\p{L}\p{N}_/#!@~&-])(?:(?<project>${PATH})?(?:(?<sign>[#!])(?<iid>[1-9]\d{0,9})|~(?:"(?<quoted>[^"\n]{1,255})"|(?<label>[\p{L}\p{N}_][\p{L}\p{N}_?!:.&-]{0,254})))|@(?<user>${PATH}))(?![\p{L}\p{N}_])`,
  'gu',
)

/** Returns the references in a text with their places. */
export function findReferences(text: string): { readonly at: number; readonly reference: Reference }[] {
  // Most texts have none, and this is much faster.
  if (!/[#!@~]/.test(text)) return []
  return [...text.matchAll(REFERENCE)].map((match) => ({ at: match.index, reference: referenceOf(match) }))
}

function referenceOf(match: RegExpExecArray): Reference {
  const { project, sign, iid, quoted, label, user } = match.groups!
  const [text] = match
  if (sign !== undefined) return { kind: sign === '#' ? 'issue' : 'merge_request', project, iid: Number(iid), text }
  const name = quoted ?? label
  if (name !== undefined) return { kind: 'label', project, ...withoutFullStop(name, text, quoted === undefined) }
  return { kind: 'user', ...withoutFullStop(user!, text, true) }
}

/** A sign at the end of a name belongs to the sentence. */
function withoutFullStop(name: string, text: string, mayEndSentence: boolean): { name: string; text: string } {
  const extra = mayEndSentence ? (/[.:?!&-]+$/.exec(name)?.[0].length ?? 0) : 0
  return { name: name.slice(0, name.length - extra), text: text.slice(0, text.length - extra) }
}
