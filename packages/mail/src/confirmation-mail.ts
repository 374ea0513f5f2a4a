import { type Core, confirmationUrl, type Email } from '@penstock/core'
import { escaped, htmlDocument } from './html.ts'
import type { Message } from './message.ts'

/** Returns the mail with the link that confirms an address. It does not name the user who has added the address. */
export function confirmationMail(core: Pick<Core, 'settings'>, email: Email, key: string): Message {
  const { externalUrl } = core.settings
  const url = confirmationUrl(core, externalUrl, email)
  const paragraphs = [
    `The address ${email.email} was added to an account at ${externalUrl}.`,
    'If you have added it, confirm it within three days:',
  ]
  const ending = 'If you have not, ignore this mail: the address will not be used.'
  return {
    to: email.email,
    subject: 'Confirm your e-mail address',
    text: [...paragraphs, url, ending].join('\n\n'),
    html: htmlDocument([
      ...paragraphs.map(escaped),
      `<a href="${escaped(url)}">Confirm the address</a>`,
      escaped(ending),
    ]),
    key,
    atMs: email.createdAtMs,
  }
}
