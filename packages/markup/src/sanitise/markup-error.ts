/** Why a text was not rendered. */
export type MarkupErrorReason =
  | 'text_too_long'
  | 'html_too_long'
  | 'too_deep'
  | 'too_many_elements'
  | 'too_slow'
  | 'too_much_memory'
  | 'busy'
  | 'failed'

const messages: Readonly<Record<MarkupErrorReason, string>> = {
  text_too_long: 'The text is too long to be rendered',
  html_too_long: 'The rendered text is too long',
  too_deep: 'The text is nested too deeply to be rendered',
  too_many_elements: 'The text has too many elements to be rendered',
  too_slow: 'Rendering the text takes too long',
  too_much_memory: 'Rendering the text takes too much memory',
  busy: 'Too many texts are waiting to be rendered',
  failed: 'The text cannot be rendered',
}

/** The error for a text that was not rendered. Its message reaches clients, its cause only the log. */
export class MarkupError extends Error {
  override readonly name = 'MarkupError'
  readonly reason: MarkupErrorReason

  constructor(reason: MarkupErrorReason, options?: ErrorOptions) {
    super(messages[reason], options)
    this.reason = reason
  }

  /** Whether the same text may succeed later. */
  get isTemporary(): boolean {
    return this.reason === 'busy'
  }
}
