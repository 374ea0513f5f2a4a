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

/** Renders texts and source code as HTML that is safe to show. Errors are `isMarkupProblem` if a limit was exceeded. */
export interface Markup {
  /** Returns a text as sanitised HTML. */
  render(request: MarkupRequest): Promise<string>
  /** Returns a file as lines of HTML, with the classes of highlight.js. */
  highlight(file: { readonly text: string; readonly fileName: string }): Promise<string>
}

/** The reason why a text was not rendered. The message reaches clients. */
interface MarkupProblem extends Error {
  readonly reason: string
  /** Whether the same text may succeed later. */
  readonly isTemporary: boolean
}

export const isMarkupProblem = (error: unknown): error is MarkupProblem =>
  error instanceof Error && 'reason' in error && 'isTemporary' in error
