import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { operatorCommands } from './operator-command.ts'

const usual = { dataDir: './data', 'observability.externalUrl': undefined }
const address = { host: '127.0.0.1', port: 8081 }

test('needs no variables for the default settings', () => {
  expect(operatorCommands(usual, address)).toEqual({ store: 'npx penstock', console: 'npx penstock' })
})

test('names the data directory, and the address that the console has', () => {
  expect(operatorCommands({ ...usual, dataDir: '/srv/penstock' }, { host: '::', port: 9000 })).toEqual({
    store: 'PENSTOCK_DATA_DIR=/srv/penstock npx penstock',
    console: "PENSTOCK_DATA_DIR=/srv/penstock PENSTOCK_OBS_LISTEN='[::]:9000' npx penstock",
  })
})

test('names the external address instead of the bound one', () => {
  const settings = { ...usual, 'observability.externalUrl': 'https://observe.example' }
  expect(operatorCommands(settings, { ...address, port: 9000 }).console).toBe(
    'PENSTOCK_OBS_EXTERNAL_URL=https://observe.example npx penstock',
  )
})

test('quotes for the shell', () => {
  const dataDir = "/srv/it's $HOME here"
  const command = operatorCommands({ ...usual, dataDir }, address).store.replace('npx penstock', 'printenv')
  expect(execFileSync('bash', ['-c', `${command} PENSTOCK_DATA_DIR`], { encoding: 'utf8' })).toBe(`${dataDir}\n`)
})
