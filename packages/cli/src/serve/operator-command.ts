import type { InstallationKind } from '../process/installation.ts'
import { type Settings, settingTable } from '../settings/setting-table.ts'

/** How to call commands of the operator for a running service. */
export interface OperatorCommands {
  /** For commands that work on the store: `npx penstock` after the variables that it needs. In an image it is `penstock`. */
  readonly store: string
  /** For commands that also print the address of the console. */
  readonly console: string
}

interface Bound {
  readonly host: string
  readonly port: number
}

/** The secrets that decide which store a command opens. A hint reads them from the shell, so that it does not show them. */
const secretSettings = ['gateway.databaseUrl', 'peppers', 'pepperPassphrase'] as const

type DecisiveSettings = Pick<Settings, 'dataDir' | 'observability.externalUrl' | (typeof secretSettings)[number]>

/**
 * Returns the commands with variables for the settings that are not the default ones. Without them a command would look for another data
 * directory, or print another address.
 *
 * Inside a container of the image, every command has the variables of the service.
 *
 * @param bound the address of the management listener; its port may have been chosen at the start
 */
export function operatorCommands(settings: DecisiveSettings, bound: Bound, kind: InstallationKind): OperatorCommands {
  if (kind === 'image') return { store: 'penstock', console: 'penstock' }
  const external = settings['observability.externalUrl']
  const store = [variable('dataDir', settings.dataDir), ...secretVariables(settings)]
  const address =
    external === undefined
      ? variable('observability.listen', addressText(bound))
      : variable('observability.externalUrl', external)
  return { store: commandAfter(...store), console: commandAfter(...store, address) }
}

const commandAfter = (...variables: readonly string[]): string =>
  [...variables.filter((each) => each !== ''), 'npx penstock'].join(' ')

/** Returns the assignment of a setting's variable, or nothing if the value is the default. */
function variable(name: 'dataDir' | 'observability.listen' | 'observability.externalUrl', value: string): string {
  const row = settingTable[name]
  return value === row.fallback ? '' : `${row.variable}=${shellWord(value)}`
}

/** Returns an assignment per secret that is set. The shell refuses the command if the variable is missing there. */
const secretVariables = (settings: DecisiveSettings): string[] =>
  secretSettings
    .filter((name) => settings[name] !== undefined)
    .map((name) => settingTable[name].variable)
    .map((name) => `${name}="\${${name}:?}"`)

const addressText = ({ host, port }: Bound): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Returns a text as one word of a shell. */
const shellWord = (text: string): string => (/^[\w./:@%=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)
