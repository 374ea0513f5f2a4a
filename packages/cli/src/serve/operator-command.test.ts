import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { operatorCommands } from './operator-command.ts'

const usual = {
  dataDir: './data',
  'observability.externalUrl': undefined,
  'gateway.databaseUrl': undefined,
  peppers: undefined,
  pepperPassphrase: undefined,
}
const address = { host: '127.0.0.1', port: 8081 }

test('needs no variables for the default settings', () => {
  expect(operatorCommands(usual, address, 'package')).toEqual({ store: 'npx penstock', console: 'npx penstock' })
})

test('names the data directory, and the address that the console has', () => {
  expect(operatorCommands({ ...usual, dataDir: '/srv/penstock' }, { host: '::', port: 9000 }, 'package')).toEqual({
    store: 'PENSTOCK_DATA_DIR=/srv/penstock npx penstock',
    console: "PENSTOCK_DATA_DIR=/srv/penstock PENSTOCK_OBS_LISTEN='[::]:9000' npx penstock",
  })
})

test('names the external address instead of the bound one', () => {
  const settings = { ...usual, 'observability.externalUrl': 'https://observe.example' }
  expect(operatorCommands(settings, { ...address, port: 9000 }, 'checkout').console).toBe(
    'PENSTOCK_OBS_EXTERNAL_URL=https://observe.example npx penstock',
  )
})

test('names no variables in an image, because a command in its container has those of the service', () => {
  expect(
    operatorCommands({ ...usual, dataDir: '/var/lib/penstock' }, { host: '0.0.0.0', port: 8081 }, 'image'),
  ).toEqual({
    ...{ store: 'penstock', console: 'penstock' },
  })
})

test('quotes for the shell', () => {
  const dataDir = "/srv/it's $HOME here"
  const command = operatorCommands({ ...usual, dataDir }, address, 'package').store.replace('npx penstock', 'printenv')
  expect(execFileSync('bash', ['-c', `${command} PENSTOCK_DATA_DIR`], { encoding: 'utf8' })).toBe(`${dataDir}\n`)
})

test('a command for a store on PostgreSQL needs the variables of the service, and never shows them', () => {
  const url = 'postgres://penstock:hunter2@db.example/gateway'
  const settings = { ...usual, 'gateway.databaseUrl': url, peppers: ['one:secret'] }
  const { store } = operatorCommands(settings, address, 'package')
  const assignment = (name: string) => `${name}="\${${name}:?}"`
  expect(store).toBe(`${assignment('PENSTOCK_GATEWAY_DATABASE_URL')} ${assignment('PENSTOCK_PEPPERS')} npx penstock`)
  const command = store.replace('npx penstock', 'printenv PENSTOCK_GATEWAY_DATABASE_URL')
  const run = (env: Record<string, string>) =>
    execFileSync('bash', ['-c', command], { encoding: 'utf8', env: { PATH: process.env.PATH, ...env }, stdio: 'pipe' })
  expect(run({ PENSTOCK_GATEWAY_DATABASE_URL: url, PENSTOCK_PEPPERS: 'one:secret' })).toBe(`${url}\n`)
  expect(() => run({})).toThrow(/PENSTOCK_GATEWAY_DATABASE_URL: parameter null or not set/)
})
