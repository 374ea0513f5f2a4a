import { existsSync } from 'node:fs'
import { jsonLog } from '@penstock/runtime'
import { type Command, Option } from 'commander'
import { createBackup } from '../backup/create-backup.ts'
import { settingsOf } from '../core/core-operator.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { useDataDirectory } from '../process/data-directory-use.ts'
import { exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'

const notes = `
The backup contains the SQLite databases, the repositories, plane.json and the key files (pepper, pepper-salt, secrets.key), so it is
as secret as the data directory. penstock restore puts it back. Databases on PostgreSQL are not copied: run pg_dump before this
command. The embedded store (observe.db), mails and journals are not copied.

Exit codes: 0 if the backup is complete, 1 if repositories were removed while it ran (run it again) or their files are missing, 2 if
nothing was copied.
`

/** Returns the first five names as text. */
const firstNames = (names: readonly string[]): string => names.slice(0, 5).join(', ')

export const backupCommand: CommandDefinition = {
  name: 'backup',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('copies databases, repositories and keys while they are in use')
        .description('Copies the data directory into a new directory, from which penstock restore puts it back.')
        .argument('<directory>', 'target directory, which must not exist')
        .addOption(new Option('--without-keys', 'leave out the key files, to store them in another place')),
    ).addHelpText('after', notes)
  },
  run: async ([directory = ''], flags, environment) => {
    const settings = settingsOf(flags, environment.env)
    const { clock, stderr } = environment
    if (existsSync(directory)) throw new UsageError(`${directory} exists already`)
    const log = jsonLog(stderr, () => clock.nowMs())
    const report = (line: string) => write(stderr, `${line}\n`)
    for (const [name, url] of [
      ['core', settings.databaseUrl],
      ['gateway', settings['gateway.databaseUrl']],
    ] as const)
      if (url !== undefined)
        await report(
          `the ${name} is on PostgreSQL: pg_dump --format=custom must have made its backup before this command`,
        )
    const use = await useDataDirectory(settings.dataDir, log)
    const includesKeys = flags.withoutKeys !== true
    const { removed, missing } = await createBackup({ settings, directory, includesKeys, clock, log, report }).finally(
      use.release,
    )
    const reportIncomplete = (what: string, advice: string) =>
      report(`penstock: the backup is not complete, because ${what}: ${advice}, remove ${directory} and run it again`)
    if (missing.length > 0) {
      const advice = 'restore them, or delete what they belong to (penstock doctor lists all)'
      await reportIncomplete(`the files of repositories are missing (${firstNames(missing)})`, advice)
    }
    if (removed.length > 0)
      await reportIncomplete(
        `repositories were removed while it ran (${firstNames(removed)})`,
        'wait until the removals have ended',
      )
    if (missing.length + removed.length > 0) return exitCodes.incomplete
    await report(
      includesKeys
        ? `${directory} is complete. It contains the keys: keep it as secret as the data directory`
        : `${directory} is complete, without keys: copy pepper, pepper-salt and secrets.key to another place`,
    )
    return exitCodes.ok
  },
}
