import { join } from 'node:path'
import { sourceNamePattern } from '@penstock/exporter'
import { type Forge, type ForgeName, forges, type HookOwner } from '@penstock/forges'
import { type Command, Option, type OptionValues } from 'commander'
import { backfillSettings } from '../backfill/backfill-settings.ts'
import { type ConnectSettings, runConnect } from '../connect/run-connect.ts'
import { addExportFlags } from '../export-run/export-flags.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { allowPerRunOnly } from '../flags/option-flags.ts'
import { integerFrom } from '../input/input-flags.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { settingTable } from '../settings/setting-table.ts'

const notes = `
Checks the access token, adds a source with a new secret to the file of sources, installs the webhook with that secret, exports the runs of
the last 30 days like penstock backfill, and prints the address of the console. The secret is not printed. A second run finds the source
and the webhook, and updates the webhook.

Webhooks are installed on GitHub, GitLab, Gitea and Forgejo. For other forges the command prints where to enter them.

Example:
  $ export PENSTOCK_FORGE_TOKEN=
  $ penstock connect https://github.com --project owner/name --public-url https://penstock.example.com --endpoint http://127.0.0.1:4318

Exit codes: 0 done, 1 the forge refused something or a run was not accepted, 2 usage or configuration, 130 interrupted.
`

/** The forges of public hosts. Others need --forge. */
const forgeByHost: Readonly<Record<string, ForgeName>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'codeberg.org': 'forgejo',
  'bitbucket.org': 'bitbucket',
  'circleci.com': 'circleci',
  'app.circleci.com': 'circleci',
  'buildkite.com': 'buildkite',
  'dev.azure.com': 'azure',
}

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

export const connectCommand: CommandDefinition = {
  name: 'connect',
  define: (command: Command) => {
    command
      .summary('installs the webhook of a forge and exports its last runs')
      .description(
        'Connects a project, a group or an organization of a forge: its webhook, and the runs of the last days.',
      )
      .argument('<url>', 'URL of the forge')
      .addOption(new Option('--project <id or path>', 'project to connect; may be repeated').argParser(several))
      .addOption(new Option('--group <path>', 'group or organization to connect; may be repeated').argParser(several))
      .addOption(new Option('--organization <name>', 'the same as --group').argParser(several))
      .addOption(
        new Option('--public-url <url>', 'address at which the forge reaches penstock serve').makeOptionMandatory(),
      )
      .addOption(new Option('--private-token <token>', 'access token of the forge'))
      .addOption(new Option('--source <name>', 'name of the source (default: the host of the forge)'))
      .addOption(
        new Option(
          '--sources <file>',
          'file of sources (default: PENSTOCK_SOURCES, else sources.json in the data directory)',
        ),
      )
      .addOption(
        new Option('--days <days>', 'how far back runs are exported; 0: none')
          .argParser(integerFrom(0, 3650))
          .default(30),
      )
      .addHelpText('after', notes)
    addExportFlags(command)
    allowPerRunOnly(command)
  },
  run: async ([url = ''], flags, environment) => runConnect(settingsOf(url, flags, environment), environment),
}

/** @throws {UsageError} */
function settingsOf(from: string, flags: OptionValues, environment: Environment): ConnectSettings {
  const { env, clock } = environment
  if (!URL.canParse(from)) throw new UsageError('the URL of the forge must start with http:// or https://')
  const { hostname } = new URL(from)
  const forgeName: ForgeName | undefined =
    flags.forge ?? (Object.hasOwn(forgeByHost, hostname) ? forgeByHost[hostname] : undefined)
  if (forgeName === undefined) throw new UsageError(`name the kind of forge at ${hostname} with --forge`)
  const owners = ownersOf(flags, forgeName)
  const file = sourcesFile(flags, env)
  const sinceNs = clock.nowNs() - BigInt(flags.days) * 86_400_000_000_000n
  const backfill: ConnectSettings['backfill'] = (projects) =>
    flags.days === 0
      ? undefined
      : backfillSettings(
          { ...flags, from, forge: forgeName, project: projects, since: sinceNs, perPage: 100 },
          environment,
        )
  backfill(['check/flags']) // An error in the flags of the export must come before anything is installed.
  return {
    forgeName,
    from,
    owners,
    privateToken: flags.privateToken ?? env.PENSTOCK_FORGE_TOKEN,
    publicUrl: publicUrl(flags.publicUrl),
    source: sourceName(flags.source ?? hostname),
    sourcesFile: file,
    isFileSet: env.PENSTOCK_SOURCES === file,
    backfill,
  }
}

function ownersOf(
  { project = [], group = [], organization = [] }: OptionValues,
  forgeName: ForgeName,
): readonly HookOwner[] {
  const groups: readonly string[] = [...group, ...organization]
  const { hookApi }: Forge = forges[forgeName]
  if (project.length + groups.length === 0) throw new UsageError('name what to connect: --project or --group')
  if (groups.length > 0 && hookApi === undefined)
    throw new UsageError(`--forge ${forgeName}: name each project with --project`)
  return [
    ...project.map((name: string) => ({ kind: 'project' as const, name })),
    ...groups.map((name) => ({ kind: 'group' as const, name })),
  ]
}

function publicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, '')
  throw new UsageError(
    '--public-url must be a URL that starts with http:// or https://, without user name, password, ? and #',
  )
}

function sourceName(name: string): string {
  if (sourceNamePattern.test(name)) return name
  throw new UsageError('--source must have 1 to 64 letters, digits, dots, - and _, and begin with a letter or digit')
}

/** Returns the file of sources. The variable may contain the sources themselves, which are not changed. */
function sourcesFile(flags: OptionValues, env: Environment['env']): string {
  const given: string | undefined = flags.sources ?? (env.PENSTOCK_SOURCES || undefined)
  if (given?.trimStart().startsWith('{')) {
    throw new UsageError('PENSTOCK_SOURCES contains the sources themselves; move them into a file, and name it there')
  }
  return given ?? join(env.PENSTOCK_DATA_DIR || settingTable.dataDir.fallback, 'sources.json')
}
