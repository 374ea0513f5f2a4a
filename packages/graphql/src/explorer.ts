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

export interface ExplorerOptions {
  readonly core: Core
  /** Of the page to sign in on, which leads back to the path. */
  signInUrl(returnTo: string): string
}

export const EXPLORER_PATH = '/-/graphql-explorer'
const ASSETS_PATH = `${EXPLORER_PATH}/assets`

/**
 * `GET` and `HEAD /-/graphql-explorer`: GraphiQL, made of our own files, for whoever is signed in in the browser or puts a
 * token into its headers.
 *
 * @see spec/interface-1.md 2.1
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

async function page({ core, signInUrl }: ExplorerOptions, { raw }: Incoming): Promise<Reply> {
  const { externalUrl, serviceName } = core.settings
  const secret = sessionSecretIn(raw.headers, serviceName)
  const session = secret === undefined ? undefined : await findSession(core, secret)
  const assets = await explorerAssets()
  // The origin is the one the page came from: it may have other names than the one in generated URLs.
  const base = new URL(externalUrl).pathname.replace(/\/$/, '')
  const urlOf = (key: keyof ExplorerAssets) => `${base}${ASSETS_PATH}/${assets[key].name}`
  const nonce = Buffer.from(core.randomBytes(16)).toString('base64')
  const settings = {
    endpoint: base + GRAPHQL_PATH,
    // Proves to the endpoint that a change in this session comes from a page of ours.
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
<style>${new Html(STYLE)}</style>
</head>
<body>
<p class="who">${who}</p>
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
      'Content-Security-Policy': policy(nonce),
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    },
  }
}

/** The editor writes styles into what it draws, and its fonts and pictures stand in its style sheet; nothing else is let in. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "worker-src 'self'",
    "connect-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** JSON that cannot end the element it stands in. */
const asScriptText = (value: unknown): Html => new Html(JSON.stringify(value).replaceAll('<', '\\u003c'))

const STYLE = `
body { display: flex; flex-direction: column; height: 100vh }
.who { font: 14px/1.4 sans-serif; margin: 0; padding: .4rem 1rem; background: #f4f4f4; color: #222 }
#explorer { flex: 1; min-height: 0 }
.graphiql-container { height: 100% !important }
`

const BEFORE = `
const settings = JSON.parse(document.querySelector('#settings').textContent)
self.MonacoEnvironment = { globalAPI: false, getWorkerUrl: (_, label) => settings.workers[label] }
`

/**
 * What is typed stays out of the page's address, which the library would put it in, and tokens out of the browser's storage.
 * Who comes back finds what was last written here.
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

const DEFAULT_QUERY = `# Ctrl-Enter runs this, Ctrl-Space offers what can stand at the cursor, and the
# book on the left shows every type and field.
#
# An anonymous caller sees what is public, and currentUser is null. Scores are
# limited to 200 for anonymous callers and 250 for others: queryComplexity tells
# what this query costs. A list has at most 100 items on a page; go on with
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
