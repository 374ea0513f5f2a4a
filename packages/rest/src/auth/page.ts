import { createHash } from 'node:crypto'
import { type Core, DomainError } from '@penstock/core'
import {
  type Html,
  html,
  type Incoming,
  type Reply,
  type RouteRequest,
  type ServedRoute,
  unguarded,
} from '@penstock/http'
import { z } from 'zod'
import { mark, pageStyle } from './page-style.ts'
import { SMALL_FORM_LIMITS } from './session-cookie.ts'
import { type ShownMessages, shownMessages } from './shown-messages.ts'

export interface Page {
  readonly status: number
  readonly title: string
  readonly body: Html
  /** The URLs that the forms may submit to, including redirects. Default: none. */
  readonly formTargets?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  /** For pages with tables. Default: false, a narrow column. */
  readonly isWide?: boolean
  /** The secret in the cookie that the page sets, if the browser has none. */
  readonly secret?: string
}

/** The answer of a page route: a page, or a reply without one. */
export type Answer = Page | Reply

interface PageRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The limit of a form in bytes. Default: that for anonymous users. */
  readonly formLimitBytes?: number
  readonly handle: (request: RouteRequest) => Promise<Answer>
}

/** Returns routes that are open to everyone. Their pages also show broadcast messages. */
export function pageRoutes(core: Core, routes: readonly PageRoute[]): ServedRoute[] {
  return unguarded(
    routes.map(({ handle, formLimitBytes: limitBytes = SMALL_FORM_LIMITS.limitBytes, ...route }) => ({
      ...route,
      access: undefined,
      ...(route.method === 'POST' && { body: z.unknown(), forms: { ...SMALL_FORM_LIMITS, limitBytes } }),
      handle: async (request) => replyTo(core, request, await handle(request)),
    })),
  )
}

/** Returns the reply of a page, with the broadcast messages. */
export async function replyTo(core: Core, request: Incoming, answer: Answer): Promise<Reply> {
  if (!('title' in answer)) return answer
  return pageReply(answer, await shownMessages(core, request, answer.secret))
}

/** Returns a page without scripts, which may not be framed or cached. Its one style sheet includes that of the messages. */
function pageReply(
  { status, title, body, formTargets = [], isWide = false, headers }: Page,
  messages: ShownMessages,
): Reply {
  const targets = [...formTargets, ...messages.formTargets]
  const formAction = targets.length === 0 ? "'none'" : [...new Set(targets.map(sourceOf))].join(' ')
  const style = html`${pageStyle}${messages.style ?? []}`
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    `style-src 'sha256-${createHash('sha256').update(style.text).digest('base64')}'`,
  ]
  const document = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head>
<body>
${messages.content}<div class="page${isWide ? ' wide' : ''}">
<div class="brand">${mark}Penstock</div>
<main>
<h1>${title}</h1>
${body}
</main>
</div>
</body>
</html>
`
  return {
    status,
    content: document.text,
    contentType: 'text/html; charset=utf-8',
    headers: {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy.join('; '),
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      ...headers,
    },
  }
}

/** Returns the page for an error with the code `too_often`. @throws every other error */
export function tooOftenPage(title: string, error: unknown): Page {
  if (!(error instanceof DomainError && error.failure.code === 'too_often')) throw error
  const headers = { 'Retry-After': String(error.failure.retryAfterSeconds) }
  return { status: 429, title, headers, body: html`<p role="alert">Too many attempts. Please try again later.</p>` }
}

/** Returns a redirect that the browser follows with GET, also after a form. */
export const redirectReply = (location: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 303,
  headers: { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', ...headers },
})

/**
 * Returns the source expression of a URL for the policy `form-action`, which browsers also apply to redirects after a form.
 * If the origin cannot be written in a policy, the scheme is allowed.
 */
function sourceOf(url: string): string {
  const { protocol, origin } = new URL(url)
  return /^https?:\/\/[\w.\-:[\]]+$/.test(origin) ? origin : protocol
}
