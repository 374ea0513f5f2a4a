import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

/** A mail as the server got it, and as a mail program reads it. */
export interface Received {
  /** The address of the envelope. */
  readonly to: string
  readonly parsed: ParsedMail
  /** The mail without interpretation. */
  readonly source: string
}

/** The answer of the server to a recipient; `undefined` accepts the mail. */
export type Refusal = (to: string) => { readonly code: number; readonly message: string } | undefined

/** An SMTP server on this machine that keeps the mails it accepts. */
export class SmtpReceiver {
  readonly mails: Received[] = []
  readonly #server: SMTPServer

  static async start({ port = 0, refuses = () => undefined }: { port?: number; refuses?: Refusal } = {}) {
    const receiver = new SmtpReceiver(refuses)
    await new Promise<void>((resolve) => receiver.#server.listen(port, '127.0.0.1', resolve))
    return receiver
  }

  private constructor(refuses: Refusal) {
    this.#server = new SMTPServer({
      authOptional: true,
      closeTimeout: 100,
      disabledCommands: ['STARTTLS'],
      onRcptTo({ address }, _session, callback) {
        const refusal = refuses(address)
        callback(refusal && Object.assign(new Error(refusal.message), { responseCode: refusal.code }))
      },
      onData: (stream, { envelope }, callback) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', async () => {
          const source = Buffer.concat(chunks).toString()
          this.mails.push({ to: envelope.rcptTo[0]!.address, parsed: await simpleParser(source), source })
          callback()
        })
      },
    })
    this.#server.on('error', () => {})
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}
