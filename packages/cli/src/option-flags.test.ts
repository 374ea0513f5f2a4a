import { readFileSync } from 'node:fs'
import { type ConvertOptionsInput, optionTable, resolveOptions } from '@penstock/converter'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { addConversionFlags, conversionOptions } from './option-flags.ts'

function optionsOf(args: readonly string[], serviceName = 'svc') {
  const command = addConversionFlags(new Command()).exitOverride()
  command.parse(args, { from: 'user' })
  return conversionOptions(command.opts(), serviceName)
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** As a person would type it. */
function flagsFor(options: ConvertOptionsInput): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const flag = name === 'resourceServiceName' ? 'service-name' : kebab(name)
    if (typeof value === 'boolean') return [`--${value ? '' : 'no-'}${flag}`]
    return [`--${flag}`, String(value)]
  })
}

test('without flags, the defaults', () => {
  expect(optionsOf([])).toEqual(resolveOptions())
})

test.each(Object.keys(optionTable))('%s has a flag', (name) => {
  const { options } = addConversionFlags(new Command())
  const flag = name === 'resourceServiceName' ? '--service-name' : `--${kebab(name)}`
  expect(options.map((option) => option.long)).toContain(flag)
})

const variants: { case: string; variant: string; options: ConvertOptionsInput }[] = JSON.parse(
  readFileSync(new URL('../../../fixtures/variants.json', import.meta.url), 'utf8'),
)

test.each(variants)('$variant of $case', ({ options }) => {
  expect(optionsOf(flagsFor(options))).toEqual(resolveOptions(options))
})

test('a flag wins over the profile, in both directions', () => {
  expect(optionsOf(['--profile', 'native', '--extensions', '--no-canceled-as-error'])).toMatchObject({
    idScheme: 'native',
    extensions: true,
    canceledAsError: false,
  })
})

test('names follow the service, unless they are given', () => {
  expect(optionsOf([], 'gitlab')).toMatchObject({ vendorNamespace: 'gitlab', providerName: 'gitlab' })
  expect(optionsOf(['--provider-name', 'forge'], 'gitlab')).toMatchObject({
    vendorNamespace: 'gitlab',
    providerName: 'forge',
  })
})
