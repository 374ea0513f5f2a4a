import {
  type AccessToken,
  actingUser,
  type Core,
  isAdministratorScope,
  listPersonalTokens,
  listShownBroadcastMessages,
  perform,
  tokenScopes,
  type User,
} from '@penstock/core'
import { type Html, html } from '@penstock/http'
import { isoTime } from '../routing/iso-time.ts'
import type { fieldsOf } from './form-fields.ts'
import { ACCOUNT_PATH, type SignedIn } from './sign-in.ts'

interface Form {
  /** The URL that the form submits to. */
  readonly action: string
  /** The hidden fields that every form has. */
  readonly csrf: readonly Html[]
}

/** Returns the table of the active tokens of a user, newest first, each with a form that revokes it. */
export async function tokenList(
  core: Core,
  { user }: SignedIn,
  { action, csrf, page }: Form & { readonly page: unknown },
): Promise<Html> {
  const number = typeof page === 'string' && /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1
  const input = { userId: user.id, state: 'active', sort: 'created_desc', page: number, perPage: 50 } as const
  const { items, hasNext } = await perform(core, actingUser(user), listPersonalTokens, input)
  if (items.length === 0 && number === 1) return html`<p>You have no personal access token. Create one below.</p>`
  const url = `${core.settings.externalUrl}${ACCOUNT_PATH}`
  return html`<table aria-labelledby="tokens">
<thead><tr><th scope="col">Name</th><th scope="col">Scopes</th><th scope="col" class="opt">Created</th><th scope="col" class="opt">Last used</th><th scope="col">Expires</th><th scope="col">Action</th></tr></thead>
<tbody>
${items.map((token) => tokenRow(token, action, csrf))}</tbody>
</table>
${number > 1 ? html`<p><a href="${url}?page=${String(number - 1)}">Newer tokens</a></p>` : []}
${hasNext ? html`<p><a href="${url}?page=${String(number + 1)}">Older tokens</a></p>` : []}`
}

const tokenRow = (
  { id, name, description, scopes, createdAtMs, lastUsedAtMs, expiresAt }: AccessToken,
  action: string,
  csrf: readonly Html[],
) => html`<tr>
<th scope="row">${name}${description ? html` <span class="dim">${description}</span>` : []}</th>
<td>${scopes.join(', ')}</td>
<td class="opt"><time>${isoTime(createdAtMs).slice(0, 10)}</time></td>
<td class="opt">${lastUsedAtMs === undefined ? 'never' : html`<time>${isoTime(lastUsedAtMs).slice(0, 16)}Z</time>`}</td>
<td>${expiresAt === undefined ? 'never' : html`<time>${expiresAt}</time>`}</td>
<td><form method="post" action="${action}">
${csrf}<input type="hidden" name="token" value="${String(id)}">
<button class="danger" aria-label="Revoke ${name}">Revoke</button>
</form></td>
</tr>
`

type Fields = ReturnType<typeof fieldsOf>

/** The prefix of the checkboxes; the rest of their names is a scope. */
const SCOPE_PREFIX = 'scope_'

export const wantedScopes = (fields: Fields): string[] =>
  Object.keys(fields).flatMap((name) => (name.startsWith(SCOPE_PREFIX) ? [name.slice(SCOPE_PREFIX.length)] : []))

/** Returns the form that creates a token, with the scopes that the user may get. `fields` are those of a failed attempt. */
export function tokenForm(
  user: Pick<User, 'isAdministrator'>,
  { action, csrf, fields, today }: Form & { readonly fields: Fields; readonly today: number },
): Html {
  const scopes = tokenScopes.filter((scope) => user.isAdministrator || !isAdministratorScope(scope))
  const wanted = new Set(wantedScopes(fields))
  return html`<form method="post" action="${action}">
${csrf}
<p><label>Name <input name="name" value="${fields.name ?? ''}" maxlength="255" autocomplete="off" required></label></p>
<p><label>Description <input name="description" value="${fields.description ?? ''}" maxlength="255" autocomplete="off"></label></p>
<p><label>Expires on <input name="expires_at" type="date" value="${fields.expires_at ?? ''}" min="${isoTime(today).slice(0, 10)}" aria-describedby="expiry"></label>
<span class="hint" id="expiry">The token ends at the beginning of that day, UTC. Without a date, it lasts as long as this service allows.</span></p>
<fieldset>
<legend>Scopes</legend>
<div class="scopes">
${scopes.map((scope) => scopeBox(scope, wanted.has(scope)))}</div>
</fieldset>
<p><button class="primary">Create token</button></p>
</form>`
}

const scopeBox = (scope: string, isChecked: boolean) =>
  html`<label class="check"><input type="checkbox" name="${SCOPE_PREFIX}${scope}" value="1"${isChecked ? html` checked` : []}> ${scope}</label>
`

/** Returns the active broadcast messages for everyone, including those that this browser has dismissed. */
export async function activeMessages(core: Core, path: string): Promise<Html> {
  const messages = await perform(core, undefined, listShownBroadcastMessages, { path, dismissedIds: [] })
  if (messages.length === 0) return html`<p>There is no message at the moment.</p>`
  return html`<ul class="plain">
${messages.map(({ message, endsAtMs }) => html`<li><p>${message}</p><span class="dim">until <time>${isoTime(endsAtMs).slice(0, 16)}Z</time></span></li>\n`)}</ul>`
}
