import type { Outcome } from '@penstock/delivery'
import type { Message } from './message.ts'

/** The place that mails go to: an SMTP server, or a directory. */
export interface MailTransport {
  send(message: Message): Promise<Outcome>
  close(): Promise<void>
}
