import {
  actingUser,
  type Core,
  DomainError,
  getApplicationSettings,
  perform,
  type Setting,
  type SettingName,
  type SettingsRecord,
  settingOf,
  settingTable,
  updateApplicationSettings,
} from '@penstock/core'
import { html, type Reply, type RouteRequest, type ServedRoute } from '@penstock/http'
import { toRestError } from '../routing/error-response.ts'
import { settingSections, withoutMarks } from './admin-settings-sections.ts'
import { fieldsOf, hiddenFields } from './form-fields.ts'
import { type Answer, type Page, pageRoutes, redirectReply } from './page.ts'
import { csrfFieldFor, isOurForm } from './session-cookie.ts'
import { fieldKindOf } from './setting-field.ts'
import { ADMIN_SETTINGS_PATH, type SignedIn, signedInUser, signInUrl } from './sign-in.ts'

/** Enough for the longest text and the longest list. */
const MAX_FORM_BYTES = 1_048_576

const ONE_PATH = `${ADMIN_SETTINGS_PATH}/:name`

/** Returns the routes of the pages on which administrators find and change the application settings. */
export function adminSettingsRoutes(core: Core): ServedRoute[] {
  return pageRoutes(core, [
    { method: 'GET', path: ADMIN_SETTINGS_PATH, handle: (request) => showAll(core, request) },
    { method: 'GET', path: ONE_PATH, handle: (request) => showOne(core, request) },
    {
      method: 'POST',
      path: ONE_PATH,
      formLimitBytes: MAX_FORM_BYTES,
      handle: (request) => handleChange(core, request),
    },
  ])
}

/** The longest search; the rest of a longer one is ignored. */
const MAX_SEARCH = 200

interface Opened {
  readonly signedIn: SignedIn
  readonly record: SettingsRecord
}

/** Returns the settings for a signed-in administrator, or the answer for everyone else. */
async function open(core: Core, request: RouteRequest): Promise<Opened | { readonly answer: Page | Reply }> {
  const signedIn = await signedInUser(core, request)
  if (signedIn === undefined) return { answer: redirectReply(signInUrl(core, request.path + request.search)) }
  if (!signedIn.user.isAdministrator) return { answer: refusalPage('Only administrators can see the settings.') }
  if (await settingOf(core, 'admin_mode')) {
    const reason =
      'In admin mode, a browser session has no administrator rights. Use a token with the scope admin_mode.'
    return { answer: refusalPage(reason) }
  }
  return { signedIn, record: await perform(core, actingUser(signedIn.user), getApplicationSettings, {}) }
}

async function showAll(core: Core, request: RouteRequest): Promise<Answer> {
  const opened = await open(core, request)
  if ('answer' in opened) return opened.answer
  const { q = '', in_force, saved } = fieldsOf(request.query)
  const { externalUrl } = core.settings
  const isSaved = saved !== undefined && Object.hasOwn(settingTable, saved)
  const search = q.slice(0, MAX_SEARCH)
  return {
    status: 200,
    title: 'Application settings',
    isWide: true,
    formTargets: [externalUrl + ADMIN_SETTINGS_PATH],
    body: html`${isSaved ? html`<p role="status" class="notice">The setting <code>${saved}</code> was saved.</p>` : []}
<p>You are signed in as ${opened.signedIn.user.username}. <a href="${externalUrl}/">Start page</a></p>
<p>Other processes use a change within ${String(core.settings.settingsCacheSeconds)} seconds.</p>
${settingSections(core, opened.record, { search, onlyInForce: in_force !== undefined })}`,
  }
}

async function showOne(core: Core, request: RouteRequest): Promise<Answer> {
  const opened = await open(core, request)
  if ('answer' in opened) return opened.answer
  const name = settingNameIn(request)
  if (name === undefined) return unknownPage
  return formPage(core, opened, name, { status: 200 })
}

/** Changes the setting, together with those that it needs in the same request. */
async function handleChange(core: Core, request: RouteRequest): Promise<Answer> {
  const opened = await open(core, request)
  if ('answer' in opened) return opened.answer
  const name = settingNameIn(request)
  if (name === undefined) return unknownPage
  const fields = fieldsOf(request.body)
  if (!isOurForm(request, opened.signedIn.secret, fields.csrf_token)) {
    return formPage(core, opened, name, { status: 403, problems: ['The form has expired. Please try again.'] })
  }
  try {
    const { user } = opened.signedIn
    await perform(core, actingUser(user), updateApplicationSettings, inputOf(name, fields))
  } catch (error) {
    return formPage(core, opened, name, { status: 422, problems: problemsOf(error), fields })
  }
  return redirectReply(`${core.settings.externalUrl}${ADMIN_SETTINGS_PATH}?saved=${name}#${name}`)
}

function settingNameIn({ params }: RouteRequest): SettingName | undefined {
  const { name } = params as { readonly name: string }
  return Object.hasOwn(settingTable, name) ? (name as SettingName) : undefined
}

/** Returns the settings of a form: the one that is changed first. */
const shownTogether = (name: SettingName): readonly SettingName[] => [
  name,
  ...(((settingTable[name] as Setting).companions ?? []) as readonly SettingName[]),
]

type Fields = ReturnType<typeof fieldsOf>

function inputOf(name: SettingName, fields: Fields): Readonly<Record<string, unknown>> {
  const given = shownTogether(name).flatMap((each) => {
    const setting = settingTable[each] as Setting
    const text = fields[each]
    // A secret that is never shown is empty in the form, and stays as it is.
    if (text === undefined || (setting.secret === 'never_shown' && text === '')) return []
    return [[each, fieldKindOf(each, setting).read(text, setting)]]
  })
  return Object.fromEntries(given)
}

/** Returns the messages of a failure that the user can correct, and throws every other error. */
function problemsOf(error: unknown): string[] {
  if (!(error instanceof DomainError) || !['invalid', 'parameters'].includes(error.failure.code)) throw error
  const { error: text, message = {} } = toRestError(error).body as {
    readonly error?: string
    readonly message?: Readonly<Record<string, readonly string[]>>
  }
  if (text !== undefined) return [text]
  return Object.entries(message).map(([name, messages]) => `${name}: ${messages.join(', ')}`)
}

interface FormState {
  readonly status: number
  readonly problems?: readonly string[]
  /** The fields of a form that has to be corrected. */
  readonly fields?: Fields
}

function formPage(
  core: Core,
  { signedIn, record }: Opened,
  name: SettingName,
  { status, problems = [], fields = {} }: FormState,
): Page {
  const { externalUrl, pinnedSettings } = core.settings
  const list = externalUrl + ADMIN_SETTINGS_PATH
  const action = `${list}/${name}`
  const isPinned = Object.hasOwn(pinnedSettings, name)
  const controls = shownTogether(name).map((each) => {
    const setting = settingTable[each] as Setting
    const kind = fieldKindOf(each, setting)
    const value = record[each]
    return html`<p><label for="${each}">${each}</label>
${kind.control(each, fields[each] ?? (setting.secret === 'never_shown' ? '' : kind.show(value)), setting)}
<span class="hint">${withoutMarks(setting.about + hintOf(setting))}</span></p>
`
  })
  return {
    status,
    title: name,
    isWide: true,
    formTargets: [action],
    body: html`${problems.map((problem) => html`<p role="alert">${problem}</p>\n`)}
<p><a href="${list}#${name}">All settings</a></p>
${
  isPinned
    ? html`<p class="notice">The configuration of the service fixes this setting: <code>${fieldKindOf(name, settingTable[name] as Setting).show(record[name])}</code></p>`
    : html`<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(signedIn.secret)])}
${controls}<p><button class="primary">Save</button></p>
</form>`
}`,
  }
}

function hintOf({ details: { type, isOptional, rules }, allowed, secret }: Setting): string {
  const named = [...rules.map((rule) => (rule as { readonly allowed?: string }).allowed), allowed]
  const limits = named.filter((each) => each !== undefined)
  return [
    ...(limits.length > 0 ? [` Allowed: ${limits.join('; ')}.`] : []),
    ...(type === 'list' ? [' One entry per line.'] : []),
    ...(secret === 'never_shown' ? [' The value is never shown. Leave it empty to keep it.'] : []),
    ...(secret === undefined && isOptional ? [' Empty: null.'] : []),
  ].join('')
}

const refusalPage = (reason: string): Page => ({
  status: 403,
  title: 'Application settings',
  body: html`<p role="alert">${reason}</p>`,
})

const unknownPage: Page = {
  status: 404,
  title: 'Application settings',
  body: html`<p role="alert">There is no such setting.</p>`,
}
