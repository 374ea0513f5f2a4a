/** A reference in a text, such as `ops/tools#12` or `@mira`. */
export type MarkupReference =
  | { readonly kind: 'issue' | 'merge_request'; readonly project: string | undefined; readonly iid: number }
  | { readonly kind: 'label'; readonly project: string | undefined; readonly name: string }
  | { readonly kind: 'user'; readonly name: string }

/** The link of a reference. Its text is that of the reference. */
export interface MarkupLink {
  readonly href: string
  readonly title?: string | undefined
}

/** A text to render as HTML. */
export interface MarkupRequest {
  readonly format: 'markdown' | 'asciidoc' | 'org' | 'rdoc'
  readonly text: string
  /** The wiki of the text, for relative links. */
  readonly base?: { readonly url: string; readonly page?: string | undefined }
  /** Returns the link of each reference, or `undefined` for one that stays text. */
  readonly resolve?: (references: readonly MarkupReference[]) => Promise<readonly (MarkupLink | undefined)[]>
}

/** Renders texts as sanitised HTML. */
export interface Markup {
  /** @throws an error that is `isMarkupProblem` if the text exceeds a limit, or too many texts are waiting */
  render(request: MarkupRequest): Promise<string>
}

/** The reason why a text was not rendered. The message reaches clients. */
export interface MarkupProblem extends Error {
  readonly reason: string
  /** Whether the same text may succeed later. */
  readonly isTemporary: boolean
}

export const isMarkupProblem = (error: unknown): error is MarkupProblem =>
  error instanceof Error && 'reason' in error && 'isTemporary' in error
