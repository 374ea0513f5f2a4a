import { DomainError } from '../../base/kit/domain-error.ts'
import { isMarkupProblem, type Markup, type MarkupRequest } from '../../base/model/markup.ts'
import type { Core } from '../../base/operations/context.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * Renders a text as sanitised HTML.
 *
 * @throws DomainError `impossible` for a text that exceeds a limit, `unavailable` if too many texts are waiting
 */
export const renderMarkup = (core: Core, request: MarkupRequest): Promise<string> =>
  withMarkup(core, (markup) => markup.render(request))

/**
 * Renders a file as lines of HTML, with the classes of highlight.js.
 *
 * @throws DomainError like `renderMarkup`
 */
export const highlightFile = (
  core: Core,
  file: { readonly text: string; readonly fileName: string },
): Promise<string> => withMarkup(core, (markup) => markup.highlight(file))

async function withMarkup({ markup }: Core, render: (markup: Markup) => Promise<string>): Promise<string> {
  if (markup === undefined)
    throw new DomainError({ code: 'impossible', message: 'This process does not render texts as HTML' })
  try {
    return await render(markup)
  } catch (error) {
    if (!isMarkupProblem(error)) throw error
    throw new DomainError(
      error.isTemporary
        ? { code: 'unavailable', retryAfterSeconds: RETRY_AFTER_SECONDS }
        : { code: 'impossible', message: error.message },
      { cause: error },
    )
  }
}
