import { createApplication, perform, rotateSigningKey } from '@penstock/core'
import { Argument, type Command, Option } from 'commander'
import { asCoreOperator, operator, requireFlags } from '../core/core-operator.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'

const examples = `
create prints the application id and the secret on stdout, each on its own line. The secret cannot be shown again.
rotate-key replaces the key that signs ID tokens, and prints the id of the new key. The former key verifies for another day.

Examples:
  $ penstock oauth-app create --name dashboard --redirect-uri https://dash.example.test/callback --scopes 'read_api'
  $ penstock oauth-app create --name cli --redirect-uri http://127.0.0.1:7171/cb --scopes api --public
  $ penstock oauth-app rotate-key
`

export const oauthAppCommand: CommandDefinition = {
  name: 'oauth-app',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('creates OAuth applications, and replaces the key of ID tokens')
        .description(
          'Creates OAuth applications in the database of the core, and replaces the key that signs ID tokens.',
        )
        .addArgument(new Argument('<action>', 'the action').choices(['create', 'rotate-key']))
        .addOption(new Option('--name <name>', 'name on the consent page'))
        .addOption(new Option('--redirect-uri <uris>', 'redirect URIs, separated by spaces'))
        .addOption(new Option('--scopes <scopes>', 'scopes, separated by spaces').default('api'))
        .addOption(
          new Option('--public', 'creates an application without a secret, for browsers and desktop programs'),
        ),
    ).addHelpText('after', examples)
  },
  run: async ([action], flags, environment) => {
    if (action === 'rotate-key') {
      await write(environment.stdout, `${await asCoreOperator(flags, environment, rotateSigningKey)}\n`)
      return exitCodes.ok
    }
    requireFlags(flags, ['name', 'redirect-uri'])
    const { name, redirectUri, scopes } = flags
    const application = await asCoreOperator(flags, environment, (core) =>
      perform(core, operator, createApplication, { name, redirectUri, scopes, confidential: flags.public !== true }),
    )
    await write(environment.stderr, `created application ${application.id}\n`)
    await write(environment.stdout, `${application.uid}\n${application.secret}\n`)
    return exitCodes.ok
  },
}
