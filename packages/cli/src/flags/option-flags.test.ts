import { optionTable, resolveOptions } from '@penstock/converter'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { flagName, flagsOf, variants } from '../../../../test/fixtures.ts'
import { addConversionFlags, conversionOptions } from './option-flags.ts'

function optionsOf(args: readonly string[], serviceName = 'svc') {
  const command = addConversionFlags(new Command()).exitOverride()
  command.parse(args, { from: 'user' })
  return conversionOptions(command.opts(), serviceName)
}

test('without flags, options have their defaults', () => {
  expect(optionsOf([])).toEqual(resolveOptions())
})

test.each(Object.keys(optionTable))('%s has a flag', (name) => {
  const { options } = addConversionFlags(new Command())
  expect(options.map((option) => option.long)).toContain(`--${flagName(name)}`)
})

test.each(variants)('$variant of $case', ({ options }) => {
  expect(optionsOf(flagsOf(options))).toEqual(resolveOptions(options))
})

test('a flag takes precedence over the profile, in both directions', () => {
  expect(optionsOf(['--profile', 'native', '--extensions', '--no-canceled-as-error'])).toMatchObject({
    idScheme: 'native',
    extensions: true,
    canceledAsError: false,
  })
})

test('names are derived from the service name unless they are set', () => {
  expect(optionsOf([], 'gitlab')).toMatchObject({ vendorNamespace: 'gitlab', providerName: 'gitlab' })
  expect(optionsOf(['--provider-name', 'forge'], 'gitlab')).toMatchObject({
    vendorNamespace: 'gitlab',
    providerName: 'forge',
  })
})
