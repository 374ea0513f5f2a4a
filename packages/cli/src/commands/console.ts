import { createSignInCode } from '@penstock/gateway'
import { Argument, type Command, Option } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { consoleAddress, signInLink } from '../serve/console-address.ts'
import { addStoreFlags, asOperator, requireStore, settingsOf } from '../serve/operator.ts'

const examples = `
link prints an address that signs one browser in to the console, once and within ten minutes. The session has the role of an API
key, and ends with it. The address is that of PENSTOCK_OBS_EXTERNAL_URL or PENSTOCK_OBS_LISTEN; penstock serve has to run there.

Examples:
  $ penstock console link
  $ penstock console link --key 9xKf2LmQ0aTz
`

export const consoleCommand: CommandDefinition = {
  name: 'console',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('prints a link that signs a browser in to the console')
        .description('Creates one-time sign-in links for the console.')
        .addArgument(new Argument('<action>', 'the action').choices(['link']))
        .addOption(new Option('--key <id>', 'id of the API key of the session (default: the first Admin key)')),
    ).addHelpText('after', examples)
  },
  run: async (_inputs, flags, environment) => {
    requireStore(flags, environment)
    const address = consoleAddress(settingsOf(flags, environment.env))
    const code = await asOperator(flags, environment, (context) => createSignInCode(context, flags.key as string))
    await write(environment.stdout, `${signInLink(address, code)}\n`)
    return exitCodes.ok
  },
}
