import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { backup } from '@penstock/db'
import { jsonLog } from '@penstock/runtime'
import type { Command } from 'commander'
import { settingsOf } from '../core/core-operator.ts'
import { CORE_FILE } from '../core/open-core.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { prepareDataDirectory } from '../process/data-directory.ts'
import { exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags, STORE_FILE } from '../serve/operator.ts'

const notes = `
Each copy is a consistent snapshot, even while the service is writing. To restore, stop the service and replace the files in the
data directory by the copies. Repositories and the key files (pepper, secrets.key) are not copied: copy them after the databases.
`

export const backupCommand: CommandDefinition = {
  name: 'backup',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('copies the databases while they are in use')
        .description('Copies the SQLite databases of the data directory into a new directory.')
        .argument('<directory>', 'target directory, which must not exist'),
    ).addHelpText('after', notes)
  },
  run: async ([directory = ''], flags, environment) => {
    const settings = settingsOf(flags, environment.env)
    if (existsSync(directory)) throw new UsageError(`${directory} exists already`)
    const parts = [
      { name: 'core', file: CORE_FILE, url: settings.databaseUrl },
      { name: 'gateway', file: STORE_FILE, url: settings['gateway.databaseUrl'] },
    ]
    const files = parts
      .filter(({ file, url }) => url === undefined && existsSync(join(settings.dataDir, file)))
      .map(({ file }) => file)
    for (const { name } of parts.filter(({ url }) => url !== undefined)) {
      await write(environment.stderr, `the ${name} is on PostgreSQL: pg_dump --format=custom makes its backup\n`)
    }
    if (files.length === 0) throw new UsageError(`there is no database in ${settings.dataDir}`)
    prepareDataDirectory(
      settings.dataDir,
      jsonLog(environment.stderr, () => environment.clock.nowMs()),
    )
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    for (const file of files) {
      await backup(join(settings.dataDir, file), join(directory, file))
      await write(environment.stderr, `${join(settings.dataDir, file)} → ${join(directory, file)}\n`)
    }
    return exitCodes.ok
  },
}
