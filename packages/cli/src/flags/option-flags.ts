import {
  type ConvertOptions,
  type ConvertOptionsInput,
  OptionError,
  type OptionRow,
  optionTable,
  type Profile,
  profiles,
  resolveOptions,
} from '@penstock/converter'
import { type Command, InvalidArgumentError, Option, type OptionValues } from 'commander'
import { UsageError } from '../process/environment.ts'

type OptionName = keyof ConvertOptions

/** Options with another name on the command line. */
const flagNames: { readonly [K in OptionName]?: string } = { resourceServiceName: 'service-name' }

const rows = Object.entries(optionTable) as [OptionName, OptionRow][]
const heading = 'Conversion options:'

/** Adds a flag for every conversion option, or for those in `names`, under a separate heading. */
export function addConversionFlags(command: Command, names?: readonly OptionName[]): Command {
  const choices = Object.keys(profiles)
  command.addOption(
    new Option('--profile <profile>', 'sets groups of the options below; a separate flag takes precedence')
      .choices(choices)
      .helpGroup(heading),
  )
  for (const [name, row] of rows) {
    if (names !== undefined && !names.includes(name)) continue
    for (const option of flagsOf(name, row)) {
      // `backfill` has a flag of its own for the projects that it reads.
      const isTaken = command.options.some(({ long }) => long === option.long)
      if (!isTaken) command.addOption(option.helpGroup(heading))
    }
  }
  return command
}

/** Restricts `--metrics-mode` to `per-run`, for commands that create one point per pipeline. */
export function allowPerRunOnly(command: Command): void {
  const flag = `--${flagName('metricsMode')}`
  command.options.find(({ long }) => long === flag)!.choices(['per-run'])
}

/**
 * Returns the conversion options from the flags.
 *
 * @param serviceName the name of the service, which is the default of the vendor namespace and of the provider
 * @throws {UsageError}
 */
export function conversionOptions(flags: OptionValues, serviceName: string): ConvertOptions {
  const given: Record<string, unknown> = {}
  for (const [name] of rows) {
    const value = flags[attributeName(name)]
    if (value !== undefined) given[name] = value
  }
  const profile = flags.profile as Profile | undefined
  const input = { vendorNamespace: serviceName, providerName: serviceName, ...given, profile } as ConvertOptionsInput
  try {
    return resolveOptions(input)
  } catch (error) {
    if (!(error instanceof OptionError)) throw error
    const flag = flagName(error.option as OptionName)
    throw new UsageError(error.message.replace(`option ${error.option}`, `option '--${flag}'`))
  }
}

/**
 * Returns the flags of an option. A boolean option has two flags, `--name` and `--no-name`, because a profile may have
 * set it. The help shows only the one that changes the default.
 */
function flagsOf(name: OptionName, row: OptionRow): Option[] {
  const flag = flagName(name)
  if (row.shape.kind !== 'boolean') return [valueFlag(flag, row)]
  const on = new Option(`--${flag}`, row.about)
  const off = new Option(`--no-${flag}`, `without: ${row.about}`)
  return row.default === true ? [on.hideHelp(), off] : [on, off.hideHelp()]
}

function valueFlag(flag: string, { shape, default: fallback, about }: OptionRow): Option {
  const description = fallback === undefined ? about : `${about} (default: ${String(fallback)})`
  switch (shape.kind) {
    case 'choice':
      return new Option(`--${flag} <choice>`, description).choices(shape.values)
    case 'bounds':
      return new Option(`--${flag} <seconds,…>`, description).argParser(parseBounds)
    case 'pattern':
      return new Option(`--${flag} <pattern>`, description)
    default:
      return new Option(`--${flag} <text>`, description)
  }
}

function parseBounds(text: string): string | number[] {
  if (text === 'native' || text === 'fine') return text
  const bounds = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  if (bounds.some(Number.isNaN))
    throw new InvalidArgumentError('It must be native, fine or numbers separated by commas.')
  return bounds
}

const flagName = (name: OptionName): string =>
  flagNames[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Returns the key under which commander stores the value. */
const attributeName = (name: OptionName): string => new Option(`--${flagName(name)}`).attributeName()
