import type { Setting } from '@penstock/core'
import { type Html, html } from '@penstock/http'

/** How a form edits a setting, and how the page shows its value. */
interface FieldKind {
  /** Returns the text of a value, for the page and for the form. */
  show(value: unknown): string
  /** Returns the value that the text of a form means, for the operation, which checks it. */
  read(text: string, setting: Setting): unknown
  control(name: string, text: string, setting: Setting): Html
}

const NULL_TEXT = ''

const words = (value: unknown): string => (value === undefined || value === null ? NULL_TEXT : String(value))
const lines = (text: string): string => text.replaceAll('\r\n', '\n')

const options = (name: string, text: string, all: readonly (readonly [value: string, label: string])[]): Html =>
  html`<select name="${name}" id="${name}">${all.map(([value, label]) =>
    value === text
      ? html`<option value="${value}" selected>${label}</option>`
      : html`<option value="${value}">${label}</option>`,
  )}</select>`

const area = (name: string, text: string): Html =>
  html`<textarea name="${name}" id="${name}" rows="8" spellcheck="false">\n${text}</textarea>`

const readNumber = (text: string): unknown => {
  const trimmed = text.trim()
  if (trimmed === '') return null
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(trimmed) ? Number(trimmed) : trimmed
}

const kinds = {
  flag: {
    show: (value) => (value === true ? 'on' : 'off'),
    read: (text) => text === 'on',
    control: (name, text) =>
      options(name, text, [
        ['on', 'on'],
        ['off', 'off'],
      ]),
  },
  choice: {
    show: words,
    read: (text, { details }) => (details.type === 'text' ? text : readNumber(text)),
    control: (name, text, setting) =>
      options(
        name,
        text,
        choicesOf(setting)!.map((value) => [value, value]),
      ),
  },
  number: {
    show: words,
    read: readNumber,
    control: (name, text) =>
      html`<input name="${name}" id="${name}" value="${text}" inputmode="decimal" maxlength="32" autocomplete="off">`,
  },
  text: {
    show: words,
    read: (text, { details }) => (text === '' && details.isOptional ? null : lines(text)),
    control: (name, text, { secret }) =>
      secret === undefined
        ? html`<input name="${name}" id="${name}" value="${text}" autocomplete="off">`
        : html`<input name="${name}" id="${name}" value="${text}" type="password" autocomplete="off">`,
  },
  paragraphs: {
    show: words,
    read: (text) => (text === '' ? null : lines(text)),
    control: area,
  },
  entries: {
    show: (value) => (value as readonly string[]).join('\n'),
    read: (text) =>
      text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    control: area,
  },
  json: {
    show: (value) => JSON.stringify(value, undefined, 2),
    read: (text) => {
      try {
        return JSON.parse(text) as unknown
      } catch {
        // The operation refuses text where it expects a list or an object.
        return text
      }
    },
    control: area,
  },
} as const satisfies Record<string, FieldKind>

/** The texts that may have many lines. */
const paragraphs = ['terms', 'security_txt_content']
/** The lists with entries that are objects. */
const objectLists = ['search_index_settings']

function choicesOf({ details: { values, schema } }: Setting): readonly string[] | undefined {
  const known = values ?? (schema.meta()?.enum as readonly number[] | undefined)
  return known?.map(String)
}

/** Returns how a setting is shown and edited. */
export function fieldKindOf(name: string, setting: Setting): FieldKind {
  const { type } = setting.details
  if (choicesOf(setting) !== undefined) return kinds.choice
  if (type === 'flag') return kinds.flag
  if (type === 'int' || type === 'number') return kinds.number
  if (type === 'object' || objectLists.includes(name)) return kinds.json
  if (type === 'list') return kinds.entries
  return paragraphs.includes(name) ? kinds.paragraphs : kinds.text
}
