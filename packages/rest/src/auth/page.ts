import { type Html, html, type Reply } from '@penstock/http'

export interface Page {
  readonly status: number
  readonly title: string
  readonly body: Html
  /** The URLs that the forms may submit to, including redirects. Default: none. */
  readonly formTargets?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns a page without scripts and styles, which may not be framed or cached. */
export function pageReply({ status, title, body, formTargets = [], headers }: Page): Reply {
  const targets = formTargets.length === 0 ? "'none'" : [...new Set(formTargets.map(sourceOf))].join(' ')
  const document = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  return {
    status,
    content: document.text,
    contentType: 'text/html; charset=utf-8',
    headers: {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': `default-src 'none'; base-uri 'none'; form-action ${targets}; frame-ancestors 'none'`,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      ...headers,
    },
  }
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
