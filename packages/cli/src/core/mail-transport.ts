import { isIP } from 'node:net'
import { join } from 'node:path'
import { fileTransport, type MailTransport, type Sender, smtpTransport } from '@penstock/mail'
import type { Clock } from '@penstock/runtime'
import type { Settings } from '../settings/setting-table.ts'

/** The directory of mails in the data directory, for a service without an SMTP server. */
export const mailDirectory = ({ dataDir }: Pick<Settings, 'dataDir'>): string => join(dataDir, 'mail')

/** Returns the place that the settings send mails to. */
export function mailTransport(
  settings: Settings,
  { externalUrl, clock }: { readonly externalUrl: string; readonly clock: Clock },
): MailTransport {
  const sender = senderOf(settings, externalUrl)
  const server = settings['core.smtpUrl']
  return server === undefined
    ? fileTransport(mailDirectory(settings), { sender })
    : smtpTransport(server, { sender, clock })
}

/** An address with an IP address for its host would need brackets, and few servers accept it. */
function senderOf(settings: Settings, externalUrl: string): Sender {
  const host = URL.canParse(externalUrl) ? new URL(externalUrl).hostname.replace(/^\[|\]$/g, '') : ''
  const fallback = `penstock@${host === '' || isIP(host) !== 0 ? 'localhost' : host}`
  return { name: 'Penstock', address: settings['core.mailFrom'] ?? fallback }
}
