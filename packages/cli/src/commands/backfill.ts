import { type ForgeName, forgeNames, forges, parseDate } from '@penstock/forges'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import { type BackfillSettings, runBackfill } from '../backfill/run-backfill.ts'
import { addExportFlags, exportSettings } from '../export-run/export-flags.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { allowPerRunOnly } from '../flags/option-flags.ts'
import { integerFrom } from '../input/input-flags.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { settingTable } from '../settings/setting-table.ts'

const notes = `
Reads the finished pipelines of a project from a forge with GitLab's REST API, oldest first, with all attempts of their jobs,
their bridges and the pipelines that the bridges started in the same project, and exports them like penstock export.

Each accepted pipeline is recorded in the data directory (PENSTOCK_DATA_DIR) or in --state-file. After an interruption, run the
same command again to continue; it repeats only the requests that were being sent. Ctrl-C ends the command immediately. Pipelines
that had not finished are read again in each run. Only one run at a time may use a state file.

The private token is read from --private-token or PENSTOCK_FORGE_TOKEN; it needs the scope read_api. A variable is not visible in
the list of processes. The command waits for rate limits of the forge.

Examples:
  $ penstock backfill --from https://gitlab.example.com --project ops/tools --endpoint http://127.0.0.1:4318
  $ penstock backfill --from https://gitlab.example.com --project 17 --project 18 --since 2026-01-01 --signals traces

Exit codes: 0 all accepted, 1 a pipeline was not read or not accepted, 2 usage or configuration, 130 interrupted.
`

export const backfillCommand: CommandDefinition = {
  name: 'backfill',
  define: (command: Command) => {
    command
      .summary("finished pipelines from a forge's REST API to an OTLP endpoint")
      .description("Reads the finished pipelines of projects from a forge's REST API and delivers them over OTLP/HTTP.")
      .addOption(new Option('--from <url>', "the forge's URL; /api/v4 is appended").makeOptionMandatory())
      .addOption(
        new Option('--project <id or path>', 'project to read; may be repeated')
          .argParser((value: string, before: readonly string[] = []) => [...before, value])
          .makeOptionMandatory(),
      )
      .addOption(new Option('--private-token <token>', 'access token of the forge'))
      .addOption(
        new Option('--since <date>', 'only pipelines created at or after this date or time (UTC)').argParser(parseDay),
      )
      .addOption(
        new Option('--until <date>', 'only pipelines created before this date or time (UTC)').argParser(parseDay),
      )
      .addOption(new Option('--status <list>', 'only these statuses, separated by commas').argParser(parseStatuses))
      .addOption(new Option('--per-page <pipelines>', 'pipelines per page').argParser(integerFrom(1, 100)).default(100))
      .addOption(
        new Option(
          '--state-file <file>',
          'file that records accepted pipelines of one project (default: in the data directory)',
        ),
      )
      .addHelpText('after', notes)
    addExportFlags(command)
    // A window of metrics cannot be continued after an interruption.
    allowPerRunOnly(command)
  },
  run: async (_inputs, flags, environment) => {
    const settings = settingsOf(flags, environment)
    return settings === undefined ? exitCodes.ok : runBackfill(settings, environment)
  },
}

function settingsOf(flags: OptionValues, environment: Environment): BackfillSettings | undefined {
  const { env } = environment
  // The projects to read are not the conversion option of that name.
  const delivery = exportSettings({ ...flags, project: undefined }, environment)
  if (delivery === undefined) return undefined
  requireRestApi(delivery.forge)
  const projects = flags.project as readonly string[]
  const stateFile = flags.stateFile as string | undefined
  if (stateFile !== undefined && projects.length > 1) {
    throw new UsageError('--state-file is for one project; omit it, or run once per project')
  }
  return {
    from: flags.from,
    projects,
    privateToken: flags.privateToken ?? env.PENSTOCK_FORGE_TOKEN,
    filter: { sinceNs: flags.since, untilNs: flags.until, statuses: flags.status },
    perPage: flags.perPage,
    stateFile,
    dataDir: env.PENSTOCK_DATA_DIR || settingTable.dataDir.fallback,
    delivery,
  }
}

/** @throws {UsageError} for a forge with an API that is not read */
function requireRestApi(forge: ForgeName | undefined): void {
  const readable = forgeNames.filter((name) => 'restApi' in forges[name])
  if (forge === undefined || readable.includes(forge)) return
  throw new UsageError(`--forge ${forge}: backfill reads the API of ${readable.join(', ')} only`)
}

function parseDay(text: string): bigint {
  const timeNs = parseDate(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text} 00:00:00` : text)
  if (timeNs === undefined) throw new InvalidArgumentError('It must be 2026-02-11 or 2026-02-11T09:25:11Z.')
  return timeNs
}

function parseStatuses(text: string): string[] {
  const statuses = text.split(',').map((word) => word.trim().toLowerCase())
  if (statuses.every((status) => /^[a-z_]+$/.test(status))) return statuses
  throw new InvalidArgumentError('It must be statuses such as success,failed.')
}
