import { type Core, csrfTokenOf, findSession } from '@penstock/core'
import {
  Html,
  html,
  type Incoming,
  type Reply,
  RequestProblem,
  type ServedRoute,
  sessionSecretIn,
  unguarded,
} from '@penstock/http'
import { type ExplorerAssets, explorerAssets } from './explorer-assets.ts'
import { GRAPHQL_PATH } from './graphql-routes.ts'

interface ExplorerOptions {
  readonly core: Core
  /** Returns the URL of the sign-in page, which redirects to `returnTo` afterwards. */
  signInUrl(returnTo: string): string
  /** Returns the broadcast messages of the page. Default: none. */
  messages?(request: Incoming): Promise<PageMessages>
}

interface PageMessages {
  readonly content: Html
  /** The style sheet; `undefined` without messages. */
  readonly style: Html | undefined
  /** The URLs that the forms submit to. */
  readonly formTargets: readonly string[]
}

export const EXPLORER_PATH = '/-/graphql-explorer'
const ASSETS_PATH = `${EXPLORER_PATH}/assets`

/**
 * Returns the routes of `GET` and `HEAD /-/graphql-explorer`: GraphiQL, served from our own files. It sends the session of the
 * browser, or a token that the user enters in the headers editor.
 */
export function explorerRoutes(options: ExplorerOptions): ServedRoute[] {
  return unguarded([
    { method: 'GET', path: EXPLORER_PATH, access: undefined, handle: (request) => page(options, request) },
    { method: 'GET', path: `${ASSETS_PATH}/:name`, access: undefined, handle: ({ params }) => asset(params.name!) },
  ])
}

async function asset(name: string): Promise<Reply> {
  const found = Object.values(await explorerAssets()).find((each) => each.name === name)
  if (found === undefined) throw new RequestProblem({ kind: 'not_found' })
  return {
    status: 200,
    content: found.content,
    contentType: found.contentType,
    headers: {
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      'Cross-Origin-Resource-Policy': 'same-origin',
    },
  }
}

async function page({ core, signInUrl, messages }: ExplorerOptions, request: Incoming): Promise<Reply> {
  const { raw } = request
  const { externalUrl, serviceName } = core.settings
  const secret = sessionSecretIn(raw.headers, serviceName)
  const session = secret === undefined ? undefined : await findSession(core, secret)
  const assets = await explorerAssets()
  const shown = await messages?.(request)
  // URLs have no origin, because the browser may have opened the page under another host name than `externalUrl`.
  const base = new URL(externalUrl).pathname.replace(/\/$/, '')
  const urlOf = (key: keyof ExplorerAssets) => `${base}${ASSETS_PATH}/${assets[key].name}`
  const nonce = Buffer.from(core.randomBytes(16)).toString('base64')
  const settings = {
    endpoint: base + GRAPHQL_PATH,
    // Mutations in a session need this header, as proof that they come from our page.
    headers: session === undefined ? {} : { 'X-CSRF-Token': csrfTokenOf(secret!) },
    query: DEFAULT_QUERY,
    workers: {
      editorWorkerService: urlOf('editorWorkerService'),
      json: urlOf('json'),
      graphql: urlOf('graphql'),
    },
  }
  const who =
    session === undefined
      ? html`Not signed in: <a href="${signInUrl(EXPLORER_PATH)}">sign in</a>, or put a token into the headers below the
query, as <code>{"Authorization": "Bearer …"}</code>.`
      : html`Signed in as <strong>${session.user!.username}</strong>.`
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>GraphQL explorer</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${urlOf('style')}">
<style>${new Html(STYLE)}${shown?.style ?? []}</style>
</head>
<body>
${shown?.content ?? []}<p class="who">${who}</p>
<noscript>The explorer needs JavaScript.</noscript>
<div id="explorer"></div>
<script id="settings" type="application/json">${asScriptText(settings)}</script>
<script nonce="${nonce}">${new Html(BEFORE)}</script>
<script nonce="${nonce}" src="${urlOf('graphiql')}"></script>
<script nonce="${nonce}">${new Html(START)}</script>
</body>
</html>
`
  return {
    status: 200,
    content: document.text,
    contentType: 'text/html; charset=utf-8',
    headers: {
      'Cache-Control': 'no-store',
      'Content-Security-Policy': policy(nonce, shown?.formTargets),
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    },
  }
}

/**
 * Returns the content security policy. The editor needs inline styles, and its style sheet contains fonts and images as
 * data.
 */
const policy = (nonce: string, formTargets: readonly string[] = []): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "worker-src 'self'",
    "connect-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    "base-uri 'none'",
    `form-action ${formTargets.map((url) => new URL(url).origin).join(' ') || "'none'"}`,
    "frame-ancestors 'none'",
  ].join('; ')

/** Returns JSON in which `</script>` cannot occur. */
const asScriptText = (value: unknown): Html => new Html(JSON.stringify(value).replaceAll('<', '\\u003c'))

const STYLE = `
body { display: flex; flex-direction: column; height: 100vh }
.who { font: 14px/1.4 sans-serif; margin: 0; padding: .4rem 1rem; background: #f4f4f4; color: #222 }
#explorer { flex: 1; min-height: 0 }
.graphiql-container { height: 100% !important }
/* The dark colors of the editor for line numbers and comments have too little contrast. */
.vs-dark .line-numbers { color: #9aa0aa !important }
.vs-dark .mtk8 { color: #86b376 !important }
@media (max-width: 720px) {
  body { height: auto; min-height: 100vh }
  #explorer { flex: none; height: max(100vh, 900px) }
  .graphiql-container:has(> .graphiql-sidebar), .graphiql-container .graphiql-main { flex-direction: column }
  .graphiql-container .graphiql-sidebar { flex-direction: row; width: 100% }
  .graphiql-container .graphiql-sidebar > [style*="margin-top"] { margin: 0 0 0 auto !important }
  .graphiql-container .graphiql-sessions { margin: 0 8px 8px }
  .graphiql-container #graphiql-session { flex-direction: column }
  .graphiql-container .graphiql-logo, .graphiql-container .graphiql-horizontal-drag-bar { display: none }
}
`

const BEFORE = `
const settings = JSON.parse(document.querySelector('#settings').textContent)
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => settings.workers[label] }
`

/**
 * Starts the editor with the query that was last edited. By default the library writes the query into the page's address;
 * `onEditQuery` prevents that. Headers, which may hold a token, are not stored in the browser.
 */
const START = `
YogaGraphiQL.renderYogaGraphiQL(document.querySelector('#explorer'), {
  title: 'GraphQL explorer',
  logo: '',
  endpoint: settings.endpoint,
  additionalHeaders: settings.headers,
  initialQuery: localStorage.getItem('graphiql:query') ?? settings.query,
  onEditQuery() {},
  shouldPersistHeaders: false,
})
`

const DEFAULT_QUERY = `# Ctrl-Enter runs this query, Ctrl-Space completes at the cursor, and the book on
# the left shows every type and field.
#
# An anonymous caller sees public data, and currentUser is null. The complexity
# limit is 200 for anonymous callers and 250 for others; queryComplexity is the
# score of this query. A page of a list has at most 100 items; the next page is
# after: "<endCursor>".
query Start {
  currentUser {
    username
    name
  }
  projects(first: 5) {
    nodes {
      fullPath
      visibility
      lastActivityAt
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
  queryComplexity {
    score
    limit
  }
}
`
