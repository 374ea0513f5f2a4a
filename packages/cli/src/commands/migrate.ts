import { type Command, Option } from 'commander'
import { asCoreOperator } from '../core/core-operator.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { moveGateway } from '../serve/move-gateway.ts'
import { addStoreFlags } from '../serve/operator.ts'

const notes = `
With --to, it moves the gateway's tokens, API keys, sessions, enforcement, usage and audit log from SQLite to an empty PostgreSQL
database instead. Stop every gateway on the data directory first. Rows and a digest of each table are compared in the end, and
gateway.db is renamed to gateway.db.moved. If the command is interrupted, run it again: it continues. Keep the password out of
the URL: PGPASSWORD and ~/.pgpass are read.

Exit codes: 0 done, 1 the move has begun and is not finished, 2 nothing was done, 130 interrupted.

Examples:
  $ penstock migrate
  $ penstock migrate --to postgres://penstock@db.example.com/gateway
`

export const migrateCommand: CommandDefinition = {
  name: 'migrate',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('updates the database of the core, or moves the gateway to PostgreSQL')
        .description(
          'Migrates the tables of the core in one transaction. Concurrent runs apply each migration once. serve migrates automatically.',
        )
        .addOption(new Option('--to <url>', 'PostgreSQL database that the gateway is moved to')),
    ).addHelpText('after', notes)
  },
  run: async (_inputs, flags, environment) => {
    if (flags.to !== undefined) return moveGateway(flags.to as string, flags, environment)
    await asCoreOperator(flags, environment, async () => {}, { migrates: true })
    await write(environment.stderr, 'the database of the core is up to date\n')
    return exitCodes.ok
  },
}
