import {
  type BroadcastMessage,
  type BroadcastTheme,
  type Core,
  DEFAULT_FONT,
  listShownBroadcastMessages,
  perform,
} from '@penstock/core'
import { Html, html, type Incoming, sessionSecretIn } from '@penstock/http'
import { dismissedIdsIn } from './dismissed-cookie.ts'
import { hiddenFields, START_PATH } from './form-fields.ts'
import { csrfFieldFor } from './session-cookie.ts'

export const DISMISS_PATH = '/-/broadcast_messages/dismiss'

/** The broadcast messages of a page. */
export interface ShownMessages {
  readonly content: Html
  /** The style sheet; `undefined` without messages. */
  readonly style: Html | undefined
  /** The URLs that the forms submit to. */
  readonly formTargets: readonly string[]
}

const noMessages: ShownMessages = { content: html``, style: undefined, formTargets: [] }

interface Colors {
  readonly background: string
  readonly text: string
}

/** The contrast of each pair is at least 7 to 1. */
const themeColors: Readonly<Record<BroadcastTheme, Colors>> = {
  indigo: { background: '#2f2a6b', text: '#ffffff' },
  'light-indigo': { background: '#dbdbf8', text: '#1b1b3a' },
  blue: { background: '#1f4a86', text: '#ffffff' },
  'light-blue': { background: '#d3e6fb', text: '#0b2f5c' },
  green: { background: '#0d532a', text: '#ffffff' },
  'light-green': { background: '#d6f0de', text: '#0a4020' },
  red: { background: '#8d1300', text: '#ffffff' },
  'light-red': { background: '#fcd9d3', text: '#5c0d00' },
  dark: { background: '#28272d', text: '#ffffff' },
  light: { background: '#ececef', text: '#1f1e24' },
}

/**
 * Returns the messages for the page of a request, except those that the browser has dismissed. A message has a form to dismiss
 * it if the browser has a secret, to which the form's CSRF token is bound.
 *
 * @param newSecret the secret that the page sets, if the browser has none
 */
export async function shownMessages(core: Core, request: Incoming, newSecret?: string): Promise<ShownMessages> {
  const { externalUrl, serviceName } = core.settings
  const dismissedIds = dismissedIdsIn(request.raw.headers, serviceName)
  const messages = await perform(core, undefined, listShownBroadcastMessages, { path: request.path, dismissedIds })
  if (messages.length === 0) return noMessages
  const secret = sessionSecretIn(request.raw.headers, serviceName) ?? newSecret
  const action = externalUrl + DISMISS_PATH
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const returnTo = isRead ? request.path + request.search : START_PATH
  const hasForm = ({ dismissable }: BroadcastMessage) => secret !== undefined && dismissable
  const form = (message: BroadcastMessage) =>
    hasForm(message)
      ? html`<form method="post" action="${action}">
${hiddenFields([csrfFieldFor(secret!), { name: 'id', value: String(message.id) }, { name: 'return_to', value: returnTo }])}
<button>Dismiss</button>
</form>
`
      : []
  const items = messages.map(
    (message) => html`<div class="message message-${String(message.id)}">
<p>${message.message}</p>
${form(message)}</div>
`,
  )
  return {
    content: html`<section aria-label="Messages">
${items}</section>
`,
    style: styleOf(messages),
    formTargets: messages.some(hasForm) ? [action] : [],
  }
}

const LAYOUT = `
.message { display: flex; gap: 1rem; justify-content: space-between; margin: 0 0 .5rem; padding: .5rem 1rem; font: 14px/1.4 sans-serif }
.message p { margin: 0; white-space: pre-line; overflow-wrap: anywhere }
.message form { margin: 0 }
.message button { padding: 2px 10px; border: 1px solid; border-radius: 4px; background: transparent; color: inherit; cursor: pointer }
`

function styleOf(messages: readonly BroadcastMessage[]): Html {
  const rules = messages.map((message) => {
    const { background, text } = colorsOf(message)
    return `.message-${message.id} { background: ${background}; color: ${text} }\n`
  })
  return new Html(LAYOUT + rules.join(''))
}

/** Returns the colours of a message. They are hex codes, so that they can end neither the rule nor the style sheet. */
function colorsOf({ broadcastType, theme, color, font }: BroadcastMessage): Colors {
  if (broadcastType === 'banner') return withFont(themeColors[theme], font)
  if (color === '') return withFont(themeColors.light, font)
  return { background: color, text: font === '' ? DEFAULT_FONT : font }
}

/** The default font is white, which cannot be read on light themes: it leaves the colour of the text to the theme. */
const withFont = (colors: Colors, font: string): Colors =>
  font === '' || font.toUpperCase() === DEFAULT_FONT ? colors : { ...colors, text: font }
