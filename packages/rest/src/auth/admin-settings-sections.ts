import { isDeepStrictEqual } from 'node:util'
import {
  type Core,
  defaultOfSetting,
  platformNamesFor,
  type Setting,
  type SettingName,
  type SettingsRecord,
  settingTable,
} from '@penstock/core'
import { type Html, html } from '@penstock/http'
import { fieldKindOf } from './setting-field.ts'
import { type SettingTopic, settingTopics } from './setting-topics.ts'
import { ADMIN_SETTINGS_PATH } from './sign-in.ts'

interface Filter {
  readonly search: string
  readonly onlyInForce: boolean
}

/** The longest value in the table; longer ones are cut there. */
const MAX_SHOWN = 120

/** Returns the search form, and a table of the settings of each topic. */
export function settingSections(core: Core, record: SettingsRecord, filter: Filter): Html {
  const list = core.settings.externalUrl + ADMIN_SETTINGS_PATH
  const topics = settingTopics
    .map(({ title, names }) => ({ title, names: names.filter((name) => matches(name, title, filter)) }))
    .filter(({ names }) => names.length > 0)
  const count = topics.reduce((sum, { names }) => sum + names.length, 0)
  const { search, onlyInForce } = filter
  const checked = onlyInForce
    ? html`<input type="checkbox" name="in_force" value="1" checked>`
    : html`<input type="checkbox" name="in_force" value="1">`
  return html`<form method="get" action="${list}" role="search">
<p><label>Search <input name="q" type="search" value="${search}" maxlength="200"></label></p>
<p><label class="check">${checked} Only settings in force</label></p>
<p><button>Search</button> <a href="${list}">Show all</a></p>
</form>
<p role="status">${String(count)} ${count === 1 ? 'setting' : 'settings'}</p>
<nav aria-label="Topics"><ul class="topics">
${topics.map(({ title }) => html`<li><a href="#${anchorOf(title)}">${title}</a></li>\n`)}</ul></nav>
${topics.map((topic) => section(core, record, topic))}`
}

const anchorOf = (title: string): string => title.toLowerCase().replaceAll(/[^a-z]+/g, '-')

/** Returns whether every word of the search occurs in the name, the other names, the description or the topic. */
function matches(name: SettingName, title: string, { search, onlyInForce }: Filter): boolean {
  const { about, takesEffectIn, oldNames = [], oldParameters = [] } = settingTable[name] as Setting
  if (onlyInForce && takesEffectIn === undefined) return false
  const names = [name, ...oldNames, ...oldParameters, ...platformNamesFor(name)]
  const text = [...names, title, about, takesEffectIn ?? ''].join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function section(core: Core, record: SettingsRecord, { title, names }: SettingTopic): Html {
  return html`<h2 id="${anchorOf(title)}">${title}</h2>
<table class="settings">
<thead><tr><th>Setting</th><th>Value</th><th></th></tr></thead>
<tbody>
${names.map((name) => row(core, record, name))}</tbody>
</table>
`
}

/** Returns a text of the documentation without its marks for code. */
export const withoutMarks = (text: string): string => text.replaceAll('`', '')

function row({ settings }: Core, record: SettingsRecord, name: SettingName): Html {
  const setting = settingTable[name] as Setting
  const { about, takesEffectIn, secret } = setting
  const kind = fieldKindOf(name, setting)
  const value = record[name]
  const isPinned = Object.hasOwn(settings.pinnedSettings, name)
  const isChanged = secret !== 'never_shown' && !isDeepStrictEqual(value, defaultOfSetting(setting, settings))
  const text = secret === 'never_shown' ? 'not shown' : kind.show(value)
  const url = `${settings.externalUrl}${ADMIN_SETTINGS_PATH}/${name}`
  return html`<tr id="${name}">
<th scope="row"><code>${name}</code> <span class="dim">${withoutMarks(about)}</span>
<span class="dim">${takesEffectIn === undefined ? 'Stored for clients.' : `In force: ${withoutMarks(takesEffectIn)}.`}</span></th>
<td>${text === '' ? html`<span class="dim">none</span>` : html`<code>${text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text}</code>`}${isChanged && !isPinned ? html` <span class="dim">changed</span>` : []}</td>
<td>${isPinned ? html`<span class="dim">fixed by the configuration</span>` : html`<a href="${url}" aria-label="Change ${name}">Change</a>`}</td>
</tr>
`
}
