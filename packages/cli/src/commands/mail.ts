import { Argument, type Command } from 'commander'
import { settingsOf } from '../core/core-operator.ts'
import { mailDirectory, mailTransport } from '../core/mail-transport.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'
import { mailAddress } from '../settings/setting-shapes.ts'
import { printable } from '../text/wording.ts'

const notes = `
Sends one mail with the settings of the service, and prints the answer of the server. Nothing is enqueued or tried again. Without
PENSTOCK_SMTP_URL, the mail is written to the directory mail in the data directory.

Examples:
  $ penstock mail test mira@example.com

Exit codes: 0 the server accepted the mail, 1 it did not, 2 usage.
`

/** Sends a mail to check the settings. */
export const mailCommand: CommandDefinition = {
  name: 'mail',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('sends a mail to check the settings')
        .description('Sends a mail to an address and prints the answer of the server.')
        .addArgument(new Argument('<action>', 'what to do').choices(['test']))
        .argument('<address>', 'address of the recipient'),
    ).addHelpText('after', notes)
  },
  run: async ([, to = ''], flags, { env, clock, stdout }) => {
    if (mailAddress.parse(to) === undefined) throw new UsageError(`the address must be ${mailAddress.form}`)
    const settings = settingsOf(flags, env)
    const externalUrl = settings['core.externalUrl'] ?? ''
    const transport = mailTransport(settings, { externalUrl, clock })
    const atMs = clock.nowMs()
    const sentence = 'This mail shows that this service can send mails.'
    const outcome = await transport
      .send({ to, subject: 'Test mail', text: sentence, html: `<p>${sentence}</p>`, key: `test.${atMs}.${to}`, atMs })
      .finally(() => transport.close())
    const place = settings['core.smtpUrl'] === undefined ? `in ${mailDirectory(settings)}` : 'by the server'
    if (outcome.kind === 'delivered') {
      await write(stdout, `accepted ${place}: ${printable(outcome.message)}\n`)
      return exitCodes.ok
    }
    await write(stdout, `not accepted ${place}: ${printable(outcome.reason)}\n`)
    return exitCodes.incomplete
  },
}
