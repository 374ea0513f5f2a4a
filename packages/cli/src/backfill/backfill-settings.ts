import type { ForgeName } from '@penstock/forges'
import type { OptionValues } from 'commander'
import { exportSettings } from '../export-run/export-flags.ts'
import type { ExportSettings } from '../export-run/export-run.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { settingTable } from '../settings/setting-table.ts'
import { apiUrl } from './forge-client.ts'
import { type BackfillSettings, forgeApi } from './run-backfill.ts'

/**
 * Returns the settings from the flags; `undefined` if the environment turns the export off.
 *
 * @throws {UsageError}
 */
export function backfillSettings(flags: OptionValues, environment: Environment): BackfillSettings | undefined {
  const { env } = environment
  // The projects to read are not the conversion option of that name.
  const delivery = exportSettings({ ...flags, project: undefined }, environment)
  if (delivery === undefined) return undefined
  const forgeName = delivery.forge ?? 'gitlab'
  const projects = flags.project as readonly string[]
  const stateFile = flags.stateFile as string | undefined
  if (stateFile !== undefined && projects.length > 1) {
    throw new UsageError('--state-file is for one project; omit it, or run once per project')
  }
  return {
    forgeName,
    from: flags.from,
    projects,
    privateToken: flags.privateToken ?? env.PENSTOCK_FORGE_TOKEN,
    filter: { sinceNs: flags.since, untilNs: flags.until, statuses: flags.status },
    perPage: flags.perPage,
    stateFile,
    dataDir: env.PENSTOCK_DATA_DIR || settingTable.dataDir.fallback,
    delivery: namingProject(delivery, forgeName, flags.from, projects),
  }
}

/**
 * Returns the settings of the conversion. Runs of some forges name neither their server nor their repository, so that those of the flags are
 * used.
 *
 * @throws {UsageError}
 */
function namingProject(delivery: ExportSettings, forgeName: ForgeName, from: string, projects: readonly string[]) {
  const api = forgeApi(forgeName)
  if (!api.isUnnamed) return delivery
  const [project, ...others] = projects
  if (others.length > 0) {
    throw new UsageError(`--forge ${forgeName}: its runs do not name their repository; run once per project`)
  }
  const { host, pathname } = apiUrl(from, api)
  const instanceId = delivery.options.instanceId ?? `${host}${pathname.replace(/\/api$/, '')}`
  return { ...delivery, options: { ...delivery.options, project, instanceId } }
}
