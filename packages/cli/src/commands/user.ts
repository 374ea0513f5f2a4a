import { text } from 'node:stream/consumers'
import { createUser, perform } from '@penstock/core'
import { Argument, type Command, Option } from 'commander'
import { asCoreOperator, operator, requireFlags } from '../core/core-operator.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'

const examples = `
The password (8 to 128 characters) is read from standard input, so that it is not in the list of processes. A terminal shows it.

Examples:
  $ penstock user create --username mira --email mira@example.test --name 'Mira Holt' < password-file
  $ penstock user create --username root2 --email ops@example.test --admin < password-file
`

export const userCommand: CommandDefinition = {
  name: 'user',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('creates users in the database of the core')
        .description('Creates users in the database of the core.')
        .addArgument(new Argument('<action>', 'the action').choices(['create']))
        .addOption(new Option('--username <name>', 'name for signing in'))
        .addOption(new Option('--email <address>', 'email address of the user'))
        .addOption(new Option('--name <name>', 'full name of the user (default: the username)'))
        .addOption(new Option('--admin', 'makes the user an administrator')),
    ).addHelpText('after', examples)
  },
  run: async (_inputs, flags, environment) => {
    requireFlags(flags, ['username', 'email'])
    const password = (await text(environment.stdin)).replace(/\r?\n$/, '')
    if (password === '') throw new UsageError('standard input is empty; the password is read from there')
    const { username, email, name = username, admin = false } = flags
    const { user } = await asCoreOperator(flags, environment, (core) =>
      perform(core, operator, createUser, { username, email, name, admin, password }),
    )
    await write(environment.stderr, `created user ${user.username} with id ${user.id}\n`)
    return exitCodes.ok
  },
}
