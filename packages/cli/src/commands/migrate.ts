import type { Command } from 'commander'
import type { CommandDefinition } from '../command-definition.ts'
import { asCoreOperator } from '../core/core-operator.ts'
import { exitCodes } from '../environment.ts'
import { write } from '../output.ts'
import { addStoreFlags } from '../serve/operator.ts'

export const migrateCommand: CommandDefinition = {
  name: 'migrate',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('brings the database of the core up to this version')
        .description(
          'Applies what this version changes in the tables of the core: wholly or not at all, once however many do it at the same time. serve does so by itself.',
        ),
    )
  },
  run: async (_inputs, flags, environment) => {
    await asCoreOperator(flags, environment, async () => {}, { migrates: true })
    await write(environment.stderr, 'the database of the core is up to date\n')
    return exitCodes.ok
  },
}
