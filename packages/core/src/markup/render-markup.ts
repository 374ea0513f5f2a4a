import { DomainError } from '../kit/domain-error.ts'
import { isMarkupProblem, type MarkupRequest } from '../model/markup.ts'
import type { Core } from '../operations/context.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * Renders a text as sanitised HTML.
 *
 * @throws DomainError `impossible` for a text that exceeds a limit, `unavailable` if too many texts are waiting
 */
export async function renderMarkup({ markup }: Core, request: MarkupRequest): Promise<string> {
  if (markup === undefined)
    throw new DomainError({ code: 'impossible', message: 'This process does not render texts as HTML' })
  try {
    return await markup.render(request)
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
