import { parseDate } from '@penstock/forges'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { backfillSettings } from '../backfill/backfill-settings.ts'
import { runBackfill } from '../backfill/run-backfill.ts'
import { addExportFlags } from '../export-run/export-flags.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { allowPerRunOnly } from '../flags/option-flags.ts'
import { integerFrom } from '../input/input-flags.ts'
import { exitCodes } from '../process/environment.ts'

const notes = `
Reads the finished runs of a project from the REST API of a forge (--forge; GitLab by default), with their jobs and steps, and exports them
like penstock export. From GitLab: oldest first, with all attempts of jobs, bridges, and the pipelines that bridges started in the same
project. From GitHub and Gitea: every attempt of a run.

Each accepted pipeline is recorded in the data directory (PENSTOCK_DATA_DIR) or in --state-file. After an interruption, run the
same command again to continue; it repeats only the requests that were being sent. Ctrl-C ends the command immediately. Pipelines
that had not finished are read again in each run. Only one run at a time may use a state file.

The private token is read from --private-token or PENSTOCK_FORGE_TOKEN. It may need a user before it (user:token for Jenkins, Bitbucket), and
the scope read_api (GitLab), or to read Actions (GitHub). A variable is not visible in the list of processes. The command waits for rate
limits of the forge.

Examples:
  $ penstock backfill --from https://gitlab.example.com --project ops/tools --endpoint http://127.0.0.1:4318
  $ penstock backfill --forge github --from https://github.com --project owner/name --endpoint http://127.0.0.1:4318
  $ penstock backfill --from https://gitlab.example.com --project 17 --project 18 --since 2026-01-01 --signals traces

Exit codes: 0 all accepted, 1 a pipeline was not read or not accepted, 2 usage or configuration, 130 interrupted.
`

export const backfillCommand: CommandDefinition = {
  name: 'backfill',
  define: (command: Command) => {
    command
      .summary("finished pipelines from a forge's REST API to an OTLP endpoint")
      .description("Reads the finished pipelines of projects from a forge's REST API and delivers them over OTLP/HTTP.")
      .addOption(new Option('--from <url>', 'URL of the forge, or of its API').makeOptionMandatory())
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
    const settings = backfillSettings(flags, environment)
    return settings === undefined ? exitCodes.ok : runBackfill(settings, environment)
  },
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
