import { text } from 'node:stream/consumers'
import {
  createToken,
  importToken,
  listTokens,
  MAX_OVERLAP_SECONDS,
  type OperationContext,
  revokeToken,
  rotateToken,
} from '@penstock/gateway'
import { Argument, type Command, Option, type OptionValues } from 'commander'
import { runJobToken } from '../core/job-token.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { integerFrom } from '../input/input-flags.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags, asOperator, requireStore } from '../serve/operator.ts'
import { type Column, textTable } from '../text/text-table.ts'
import { printable } from '../text/wording.ts'

const examples = `
create and rotate print the token on stdout. It cannot be shown again. import reads an existing token of 32 to 256 characters
from standard input. A running gateway applies a change within two seconds.

With --kind job, it is a token of the core for a CI job: it acts as the user who started the job, in the project of the job
only, until it is revoked. Such tokens can be created and revoked.

Examples:
  $ penstock token create --name ci-runners
  $ penstock token list
  $ penstock token rotate 7Hq2mK9sT4bZ --overlap 3600
  $ penstock token revoke 7Hq2mK9sT4bZ
  $ penstock token create --kind job --project ops/tools --user mira --job 2104
  $ penstock token revoke 12 --kind job
`

const columns: readonly Column[] = ['ID', 'NAME', 'STATUS', 'SIGNALS', 'EXPIRES', 'LAST USED'].map((title) => ({
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
  create: async (context, _id, flags, { stdout, stderr }) => {
    const created = await createToken(context, bodyOf(flags))
    for (const warning of created.warnings) await write(stderr, `penstock: warning: ${JSON.stringify(warning)}\n`)
    await write(stderr, `created token ${created.id}\n`)
    await write(stdout, `${created.token}\n`)
  },
  list: async (context, _id, _flags, { stdout }) => {
    const { tokens } = await listTokens(context, { status: 'all' })
    const rows = tokens.map((token) => [
      token.id,
      printable(token.name),
      token.status,
      token.signals.join(','),
      token.expires_at ?? '-',
      token.last_used_at ?? '-',
    ])
    await write(stdout, `${textTable(columns, rows).join('\n')}\n`)
  },
  revoke: async (context, id, _flags, { stderr }) => {
    await revokeToken(context, { id: required(id) })
    await write(stderr, `revoked token ${id}\n`)
  },
  rotate: async (context, id, flags, { stdout, stderr }) => {
    const body = flags.overlap === undefined ? {} : { overlap_seconds: flags.overlap as number }
    const rotated = await rotateToken(context, { id: required(id), body })
    await write(stderr, `created token ${rotated.id}; ${id} works until ${rotated.superseded.expires_at}\n`)
    await write(stdout, `${rotated.token}\n`)
  },
  import: async (context, _id, flags, { stdin, stderr }) => {
    const imported = await importToken(context, { ...bodyOf(flags), token: (await text(stdin)).trim() })
    await write(stderr, `imported token ${imported.id}\n`)
  },
}

export const tokenCommand: CommandDefinition = {
  name: 'token',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('manages ingest tokens and job tokens in the data directory')
        .description('Creates, lists, rotates, imports and revokes ingest tokens; creates and revokes job tokens.')
        .addArgument(new Argument('<action>', 'the action').choices(Object.keys(actions)))
        .argument('[id]', 'id of the token to rotate or revoke')
        .addOption(new Option('--kind <kind>', 'kind of token').choices(['ingest', 'job']).default('ingest'))
        .addOption(new Option('--project <project>', 'with --kind job: id or full path of the project'))
        .addOption(new Option('--user <user>', 'with --kind job: id or name of the user who started the job'))
        .addOption(new Option('--job <job>', 'with --kind job: id of the job, which GET /job then returns'))
        .addOption(new Option('--name <name>', 'name of a new token'))
        .addOption(new Option('--expires-at <time>', 'time of expiry, RFC 3339 (default: the token does not expire)'))
        .addOption(
          new Option(
            '--signals <list>',
            'signals: traces, metrics, logs, profiles, separated by commas (default: all)',
          ),
        )
        .addOption(new Option('--tenant <tenant>', 'tenant of the telemetry'))
        .addOption(
          new Option('--overlap <seconds>', 'time for which the old token stays valid').argParser(
            integerFrom(0, MAX_OVERLAP_SECONDS),
          ),
        ),
    ).addHelpText('after', examples)
  },
  run: async (inputs, flags, environment) => {
    const [action = '', id] = inputs
    if (flags.kind === 'job') return runJobToken(action, id, flags, environment)
    if (flags.project !== undefined || flags.user !== undefined)
      throw new UsageError('--project and --user are for --kind job')
    if (action === 'revoke' || action === 'rotate') required(id)
    if (action !== 'create' && action !== 'import') requireStore(flags, environment)
    await asOperator(flags, environment, (context) => actions[action]!(context, id, flags, environment))
    return exitCodes.ok
  },
}

function bodyOf({ name, expiresAt, signals, tenant }: OptionValues): object {
  return {
    name,
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(signals !== undefined && { signals: (signals as string).split(',').map((signal) => signal.trim()) }),
    ...(tenant !== undefined && { tenant }),
  }
}

function required(id: string | undefined): string {
  if (id === undefined) throw new UsageError('the id of a token is missing; run penstock token list to see the ids')
  return id
}
