import { createApiKey, listApiKeys, type OperationContext, revokeApiKey } from '@penstock/gateway'
import { Argument, type Command, Option, type OptionValues } from 'commander'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags, asOperator, requireStore } from '../serve/operator.ts'
import { type Column, textTable } from '../text/text-table.ts'
import { printable } from '../text/wording.ts'

const examples = `
create prints the key on stdout. It cannot be shown again.

Examples:
  $ penstock api-key create --name alice --role Editor
  $ penstock api-key list
  $ penstock api-key revoke 9xKf2LmQ0aTz
`

const columns: readonly Column[] = ['ID', 'NAME', 'ROLE', 'EXPIRES', 'LAST USED'].map((title) => ({
  title,
  align: 'left',
}))

type Action = (
  context: OperationContext,
  id: string | undefined,
  flags: OptionValues,
  environment: Environment,
) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create: async (context, _id, { name, role, expiresAt }, { stdout, stderr }) => {
    const created = await createApiKey(context, {
      name,
      role,
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
    })
    await write(stderr, `created API key ${created.id}\n`)
    await write(stdout, `${created.key}\n`)
  },
  list: async (context, _id, _flags, { stdout }) => {
    const keys = await listApiKeys(context)
    const rows = keys.map((key) => [
      key.id,
      printable(key.name),
      key.role,
      key.expires_at ?? '-',
      key.last_used_at ?? '-',
    ])
    await write(stdout, `${textTable(columns, rows).join('\n')}\n`)
  },
  revoke: async (context, id, _flags, { stderr }) => {
    await revokeApiKey(context, { id: required(id) })
    await write(stderr, `revoked API key ${id}\n`)
  },
}

export const apiKeyCommand: CommandDefinition = {
  name: 'api-key',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('manages keys of the management API in the data directory')
        .description('Creates, lists and revokes API keys in the data directory.')
        .addArgument(new Argument('<action>', 'the action').choices(Object.keys(actions)))
        .argument('[id]', 'id of the key to revoke')
        .addOption(new Option('--name <name>', 'name of the owner of the key'))
        .addOption(
          new Option('--role <role>', 'role of the key').choices(['Viewer', 'Editor', 'Admin']).default('Editor'),
        )
        .addOption(new Option('--expires-at <time>', 'time of expiry, RFC 3339 (default: the key does not expire)')),
    ).addHelpText('after', examples)
  },
  run: async (inputs, flags, environment) => {
    const [action = '', id] = inputs
    if (action === 'revoke') required(id)
    if (action !== 'create') requireStore(flags, environment)
    await asOperator(flags, environment, (context) => actions[action]!(context, id, flags, environment))
    return exitCodes.ok
  },
}

function required(id: string | undefined): string {
  if (id === undefined) throw new UsageError('the id of a key is missing; run penstock api-key list to see the ids')
  return id
}
