import { createHash } from 'node:crypto'

/** A mail to one recipient. */
export interface Message {
  /** The address of the recipient. */
  readonly to: string
  readonly subject: string
  /** The content as plain text. */
  readonly text: string
  /** The same content as HTML. */
  readonly html: string
  /**
   * Identifies the mail: a second attempt has the same key, and thus the same Message-ID. Receivers and people can tell by it
   * that a mail was sent twice.
   */
  readonly key: string
  /** When the mail was caused. */
  readonly atMs: number
  /** For a mail that is one of many about a project. */
  readonly list?: MessageList
}

interface MessageList {
  /** The value of `List-Id` without the host: `ops/tools <42.ops.tools>`. */
  readonly id: string
  /** The page that ends the subscription. It needs no sign-in, and mail programs may call it with POST. */
  readonly unsubscribeUrl: string
  /** Mails with the same key are one conversation. */
  readonly threadKey: string
  /** Whether the mail begins the conversation. */
  readonly isFirst: boolean
}

/** The sender of all mails. */
export interface Sender {
  /** The name that mail programs show. */
  readonly name: string
  readonly address: string
}

/** The form of a message that nodemailer takes. A name or subject cannot begin another header: the library encodes them. */
export function toMail({ to, subject, text, html, key, atMs, list }: Message, { name, address }: Sender) {
  const host = address.slice(address.lastIndexOf('@') + 1)
  const threadId = list && idOf(`thread.${list.threadKey}`, host)
  return {
    from: { name, address },
    to: { name: '', address: to },
    envelope: { from: address, to: [to] },
    subject: oneLine(subject),
    text,
    html,
    date: new Date(atMs),
    messageId: list?.isFirst ? threadId! : idOf(key, host),
    ...(threadId !== undefined && !list!.isFirst && { inReplyTo: threadId, references: threadId }),
    // Neither the text nor a path in it may make the library read files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
    headers: {
      // Programs that answer mails, such as those that announce an absence, leave such mails unanswered.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(list && {
        'List-Id': list.id.replace(/>$/, `.${host}>`),
        'List-Unsubscribe': `<${list.unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
  }
}

const idOf = (key: string, host: string): string =>
  `<${createHash('sha256').update(key).digest('base64url').slice(0, 32)}@${host}>`

const MAX_SUBJECT = 200

/** Returns the text without line breaks and control characters, and with a limited length. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
  const characters = [...text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim()]
  return characters.length <= MAX_SUBJECT ? characters.join('') : `${characters.slice(0, MAX_SUBJECT - 1).join('')}…`
}
