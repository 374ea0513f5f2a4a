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
import type { CommandDefinition } from '../command-definition.ts'
import { runJobToken } from '../core/job-token.ts'
import { type Environment, exitCodes, UsageError } from '../environment.ts'
import { integerFrom } from '../input-flags.ts'
import { write } from '../output.ts'
import { addStoreFlags, asOperator, requireStore } from '../serve/operator.ts'
import { type Column, textTable } from '../text-table.ts'
import { printable } from '../wording.ts'

const examples = `
create and rotate print the token on stdout, and that is the only time it can be seen. import reads one from standard input:
32 to 256 characters that clients use already. A running gateway takes a change up within two seconds.

With --kind job it is a token of the core instead, for a job of a project that a user has started: it acts as the user, in
that project only, until it is revoked. It can be created and revoked.

Examples:
  $ penstock token create --name ci-runners
  $ penstock token list
  $ penstock token rotate 7Hq2mK9sT4bZ --overlap 3600
  $ penstock token revoke 7Hq2mK9sT4bZ
  $ penstock token create --kind job --project ops/tools --user mira
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
        .summary('ingest tokens and tokens of jobs, without HTTP')
        .description('Creates, lists, rotates, imports and revokes ingest tokens; creates and revokes tokens of jobs.')
        .addArgument(new Argument('<action>', 'what to do').choices(Object.keys(actions)))
        .argument('[id]', 'of the token to rotate or revoke')
        .addOption(new Option('--kind <kind>', 'of token').choices(['ingest', 'job']).default('ingest'))
        .addOption(new Option('--project <project>', 'of a job: id or full path of its project'))
        .addOption(new Option('--user <user>', 'of a job: id or name of who has started it'))
        .addOption(new Option('--name <name>', 'of a new token'))
        .addOption(new Option('--expires-at <time>', 'RFC 3339; without it the token does not expire'))
        .addOption(
          new Option('--signals <list>', 'traces, metrics, logs, profiles; with commas between (default: all)'),
        )
        .addOption(new Option('--tenant <tenant>', 'whose telemetry it is'))
        .addOption(
          new Option('--overlap <seconds>', 'how long the old token works beside the new').argParser(
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
  if (id === undefined) throw new UsageError('which token? Name its id; penstock token list shows them')
  return id
}
