import type { Command } from 'commander'
import { asCoreOperator } from '../core/core-operator.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'

export const migrateCommand: CommandDefinition = {
  name: 'migrate',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('updates the database of the core to this version')
        .description(
          'Migrates the tables of the core in one transaction. Concurrent runs apply each migration once. serve migrates automatically.',
        ),
    )
  },
  run: async (_inputs, flags, environment) => {
    await asCoreOperator(flags, environment, async () => {}, { migrates: true })
    await write(environment.stderr, 'the database of the core is up to date\n')
    return exitCodes.ok
  },
}
