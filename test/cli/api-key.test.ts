import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

async function world() {
  const directory = await temporaryDirectory()
  const env = { PENSTOCK_DATA_DIR: directory.path }
  const key = (...args: string[]) => penstock(['api-key', ...args], { env })
  return { key, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() }
}

test('A-4: create prints only the key on standard output', async () => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.key('create', '--name', 'alice')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^psak_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\n$/)
  expect(stderr).toBe(`created API key ${stdout.slice(5, 17)}\n`)
})

test('list shows roles and expiry without secrets; revoke removes a key', async () => {
  await using cli = await world()
  const { stdout: editor } = await cli.key('create', '--name', 'alice')
  const { stdout: admin } = await cli.key(
    ...['create', '--name', 'root', '--role', 'Admin', '--expires-at', '2099-01-01T00:00:00Z'],
  )
  const rowsOf = ({ stdout }: { stdout: string }) =>
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/))
  const listed = await cli.key('list')
  expect(rowsOf(listed)).toEqual([
    ['ID', 'NAME', 'ROLE', 'EXPIRES', 'LAST USED'],
    [admin.slice(5, 17), 'root', 'Admin', '2099-01-01T00:00:00Z', '-'],
    [editor.slice(5, 17), 'alice', 'Editor', '-', '-'],
  ])
  for (const secret of [editor, admin]) expect(listed.stdout).not.toContain(secret.slice(18, 40))

  const id = editor.slice(5, 17)
  expect(await cli.key('revoke', id)).toMatchObject({ exitCode: 0, stdout: '', stderr: `revoked API key ${id}\n` })
  expect(rowsOf(await cli.key('list'))).toHaveLength(2)
})

test('the last Admin key cannot be revoked', async () => {
  await using cli = await world()
  const { stdout } = await cli.key('create', '--name', 'root', '--role', 'Admin')
  const { exitCode, stderr } = await cli.key('revoke', stdout.slice(5, 17))
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^penstock: [^\n]*last[^\n]*\n$/)
})

test.each([
  [['create'], /name/],
  [['create', '--name', 'x', '--role', 'Owner'], /Owner|role/],
  [['create', '--name', 'x', '--expires-at', 'soon'], /expires_at/],
  [['revoke'], /the id of a key is missing/],
  [['revoke', 'A00000000000'], /no gateway store/],
  [['list'], /no gateway store/],
  [['rotate'], /rotate/],
] as const)('%j is one line and exit 2', async (args, about) => {
  await using cli = await world()
  const { exitCode, stdout, stderr } = await cli.key(...args)
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  expect(stderr).toMatch(/^penstock: [^\n]+\n$/)
  expect(stderr).toMatch(about)
})
