import { jsonLog } from '@penstock/runtime'
import type { Command } from 'commander'
import { restoreBackup } from '../backup/restore-backup.ts'
import { settingsOf } from '../core/core-operator.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { exitCodes } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'

const notes = `
Stop every process on the data directory first. The databases, keys and repositories of the backup are copied and checked, and then
replace those of the data directory, which are moved into a directory before-restore-… in it. A database on PostgreSQL must have been
restored with pg_restore before. Keys that the backup leaves out must be in the data directory. If the command is interrupted, run it
again.

Exit codes: 0 restored, 2 nothing was changed.
`

export const restoreCommand: CommandDefinition = {
  name: 'restore',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('puts a backup into the data directory')
        .description('Replaces the contents of the data directory by those of a backup that penstock backup has made.')
        .argument('<directory>', 'the directory of the backup'),
    ).addHelpText('after', notes)
  },
  run: async ([directory = ''], flags, environment) => {
    const { env, clock, stderr } = environment
    const log = jsonLog(stderr, () => clock.nowMs())
    const report = (line: string) => write(stderr, `${line}\n`)
    await restoreBackup({ settings: settingsOf(flags, env), directory, clock, log, report })
    return exitCodes.ok
  },
}
