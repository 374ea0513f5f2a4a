import {
  actingUser,
  type Core,
  DomainError,
  getNotificationSetting,
  groupNotificationSettings,
  listOwnEmails,
  listOwnLevels,
  type NotificationLevel,
  notificationLevels,
  perform,
  projectNotificationSettings,
  updateNotificationSetting,
} from '@penstock/core'
import { type Html, html, type RouteRequest, type ServedRoute } from '@penstock/http'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { type Answer, type Page, pageRoutes, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm } from './session-cookie.ts'
import { NOTIFICATION_LEVELS_PATH, type SignedIn, signedInUser, signInUrl } from './sign-in.ts'

const labels: Readonly<Record<NotificationLevel, string>> = {
  global: 'The level of the group above, or of everything (global)',
  watch: 'Most events (watch)',
  participating: 'Threads in which I take part (participating)',
  mention: 'What mentions me (mention)',
  custom: 'The events that I have chosen by the API (custom)',
  disabled: 'Nothing (disabled)',
}

/** Returns the routes of the page on which users choose their notification levels. */
export function notificationLevelRoutes(core: Core): ServedRoute[] {
  return pageRoutes(core, [
    { method: 'GET', path: NOTIFICATION_LEVELS_PATH, handle: (request) => show(core, request) },
    { method: 'POST', path: NOTIFICATION_LEVELS_PATH, handle: (request) => submit(core, request) },
  ])
}

async function show(core: Core, request: RouteRequest): Promise<Answer> {
  const signedIn = await signedInUser(core, request)
  return signedIn === undefined ? toSignIn(core) : levelsPage(core, signedIn, { status: 200 })
}

const toSignIn = (core: Core): Answer => redirectReply(signInUrl(core, NOTIFICATION_LEVELS_PATH))

async function submit(core: Core, request: RouteRequest): Promise<Answer> {
  const signedIn = await signedInUser(core, request)
  if (signedIn === undefined) return toSignIn(core)
  const fields = fieldsOf(request.body)
  if (!isOurForm(request, signedIn.secret, fields.csrf_token)) {
    return levelsPage(core, signedIn, { status: 403, problem: 'The form has expired. Please try again.' })
  }
  try {
    await save(core, signedIn, fields)
  } catch (error) {
    const problem = error instanceof DomainError ? problems[error.failure.code] : undefined
    if (problem === undefined) throw error
    return levelsPage(core, signedIn, { status: 422, problem })
  }
  return redirectReply(core.settings.externalUrl + NOTIFICATION_LEVELS_PATH)
}

const problems: Readonly<Partial<Record<DomainError['failure']['code'], string>>> = {
  parameters: 'Choose one of the levels.',
  refused: 'Choose one of the levels.',
  invalid: 'Choose one of the levels, and one of your confirmed addresses.',
  not_found: 'There is no such group or project.',
  forbidden: 'There is no such group or project.',
}

/** Saves the level for the group or project that `kind` and `path` name; without `kind`, the level and the address for everything. */
async function save(core: Core, { user }: SignedIn, fields: ReturnType<typeof fieldsOf>): Promise<void> {
  const { kind, path: parent = '', level, notification_email: notificationEmail } = fields
  const actor = actingUser(user)
  if (kind === 'group') await perform(core, actor, groupNotificationSettings.update, { parent, level })
  else if (kind === 'project') await perform(core, actor, projectNotificationSettings.update, { parent, level })
  else await perform(core, actor, updateNotificationSetting, { level, notificationEmail })
}

async function levelsPage(
  core: Core,
  { user, secret }: SignedIn,
  { status, problem }: { readonly status: number; readonly problem?: string },
): Promise<Page> {
  const { externalUrl } = core.settings
  const actor = actingUser(user)
  const action = externalUrl + NOTIFICATION_LEVELS_PATH
  const csrf = hiddenFields([csrfFieldFor(secret)])
  const everywhere = await perform(core, actor, getNotificationSetting, {})
  const confirmed = (await perform(core, actor, listOwnEmails, {})).filter(({ confirmedAtMs }) => confirmedAtMs)
  const parents = await perform(core, actor, listOwnLevels, {})
  return {
    status,
    title: 'Notifications',
    isWide: true,
    formTargets: [action],
    body: html`${problem === undefined ? [] : html`<p role="alert">${problem}</p>`}
<p>You are signed in as ${user.username}. <a href="${externalUrl}/">Start page</a></p>
<h2>Everything</h2>
<form method="post" action="${action}">
${csrf}<p><label>Level ${levelSelect(everywhere.level)}</label></p>
<p><label>Address <select name="notification_email">${confirmed.map(({ email }) => option(email, email, everywhere.notificationEmail))}</select></label></p>
<p><button class="primary">Save</button></p>
</form>
<h2 id="parents">Groups and projects</h2>
${parents.length === 0 ? html`<p>You are a member of no group or project.</p>` : []}
${
  parents.length === 0
    ? []
    : html`<table aria-labelledby="parents">
<thead><tr><th scope="col">Path</th><th scope="col">Level</th></tr></thead>
<tbody>
${parents.map(
  ({ kind, fullPath, level }) => html`<tr>
<th scope="row">${fullPath} <span class="dim">${kind}</span></th>
<td><form method="post" action="${action}">
${csrf}${hiddenFields([
  { name: 'kind', value: kind },
  { name: 'path', value: fullPath },
])}${levelSelect(level, `Level of ${fullPath}`)}
<button aria-label="Save the level of ${fullPath}">Save</button>
</form></td>
</tr>
`,
)}</tbody>
</table>`
}
<h2>Another group or project</h2>
<form method="post" action="${action}">
${csrf}<p><label>Kind <select name="kind"><option value="group">group</option><option value="project">project</option></select></label></p>
<p><label>Path <input name="path" maxlength="1024" autocomplete="off" required></label></p>
<p><label>Its level ${levelSelect('watch')}</label></p>
<p><button>Save its level</button></p>
</form>`,
  }
}

const option = (value: string, label: string, chosen: string): Html =>
  value === chosen
    ? html`<option value="${value}" selected>${label}</option>`
    : html`<option value="${value}">${label}</option>`

/** @param name the accessible name; not needed within a label */
const levelSelect = (chosen: NotificationLevel, name?: string): Html =>
  html`<select name="level"${name === undefined ? [] : html` aria-label="${name}"`}>${notificationLevels.map((level) => option(level, labels[level], chosen))}</select>`
