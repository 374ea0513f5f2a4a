import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { freePorts, serving } from './serving.ts'
import { temporaryDirectory } from './temporary-directory.ts'

let umask: number
beforeEach(() => {
  umask = process.umask(0o022)
})
afterEach(() => void process.umask(umask))

/** Returns every path of the directory that users other than the owner can use, with its mode. */
function openPaths(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true }) as string[]
  return ['.', ...names].flatMap((name) => {
    const mode = statSync(join(directory, name)).mode & 0o777
    return (mode & 0o077) === 0 ? [] : [`${name} ${mode.toString(8)}`]
  })
}

async function existingDirectory() {
  const directory = await temporaryDirectory()
  chmodSync(directory.path, 0o755)
  return directory
}

const createUser = ['user', 'create', '--username', 'mira', '--email', 'mira@example.test']

test.each([
  [['migrate']],
  [['api-key', 'create', '--name', 'ci', '--role', 'Viewer']],
  [['token', 'create', '--name', 'ci', '--signals', 'traces']],
  [createUser],
])('penstock %j closes an existing data directory to other users', async (args) => {
  await using directory = await existingDirectory()
  const { exitCode, stderr } = await penstock([...args, '--data-dir', directory.path], { stdin: 'correct horse\n' })
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  expect(openPaths(directory.path)).toEqual([])
})

test.each(['all', 'core', 'gateway'])(
  'penstock serve %s keeps a data directory that existed before to its owner',
  async (role) => {
    await using directory = await existingDirectory()
    const env = { PENSTOCK_DATA_DIR: directory.path, PENSTOCK_CORE_METRICS_LISTEN: '127.0.0.1:0' }
    const { end } = await serving([role], env)
    expect(openPaths(directory.path)).toEqual([])
    await end()
    expect(openPaths(directory.path)).toEqual([])
  },
)

test('files that an earlier version left open are closed, with a log line', async () => {
  await using directory = await temporaryDirectory()
  await penstock([...createUser, '--data-dir', directory.path], { stdin: 'correct horse\n' })
  process.umask(0o022)
  mkdirSync(join(directory.path, 'repositories/1.git/refs/heads'), { recursive: true, mode: 0o755 })
  writeFileSync(join(directory.path, 'repositories/1.git/refs/heads/main'), '', { mode: 0o644 })
  writeFileSync(join(directory.path, 'observe.db'), '', { mode: 0o664 })
  chmodSync(join(directory.path, 'core.db'), 0o644)
  chmodSync(join(directory.path, 'repositories'), 0o755)
  chmodSync(directory.path, 0o755)
  const { exitCode, stderr } = await penstock(['migrate', '--data-dir', directory.path])
  expect(exitCode).toBe(0)
  expect(openPaths(directory.path)).toEqual([])
  const logged = JSON.parse(stderr.split('\n')[0]!)
  expect(logged).toMatchObject({
    event: 'data_directory.closed',
    directory: directory.path,
    names: ['.', 'core.db', 'observe.db', 'repositories'],
  })
})

test('backup closes the files it reads, and its copies are readable only by the owner', async () => {
  await using directory = await temporaryDirectory()
  await penstock(['migrate', '--data-dir', directory.path])
  chmodSync(join(directory.path, 'core.db'), 0o644)
  const to = join(directory.path, 'copies')
  expect((await penstock(['backup', to, '--data-dir', directory.path])).exitCode).toBe(0)
  expect(openPaths(directory.path)).toEqual([])
})

test('a key that a group could read is closed like any other file', async () => {
  await using directory = await temporaryDirectory()
  await penstock(['migrate', '--data-dir', directory.path])
  chmodSync(join(directory.path, 'secrets.key'), 0o660)
  const { exitCode, stderr } = await penstock(['migrate', '--data-dir', directory.path])
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('"secrets.key"') })
  expect(openPaths(directory.path)).toEqual([])
})

test('a key that every user could read is refused with one line, because it may have been copied', async () => {
  await using directory = await temporaryDirectory()
  await penstock(['api-key', 'create', '--name', 'ci', '--role', 'Viewer', '--data-dir', directory.path])
  const pepper = join(directory.path, 'pepper')
  chmodSync(pepper, 0o644)
  const { exitCode, stderr } = await penstock(['api-key', 'list', '--data-dir', directory.path])
  expect(exitCode).toBe(2)
  expect(stderr).toBe(`penstock: every user can read the key ${pepper}; run: chmod 600 ${pepper}\n`)
})

test('a directory with other files keeps its mode, and so do those files', async () => {
  await using directory = await existingDirectory()
  writeFileSync(join(directory.path, 'notes.txt'), 'mine', { mode: 0o644 })
  const { exitCode, stderr } = await penstock(['migrate', '--data-dir', directory.path])
  expect(exitCode).toBe(0)
  expect(openPaths(directory.path)).toEqual(['. 755', 'notes.txt 644'])
  expect(JSON.parse(stderr.split('\n')[0]!)).toMatchObject({
    event: 'data_directory.open',
    directory: directory.path,
    mode: '755',
    names: ['notes.txt'],
    msg: 'Other users can list the data directory. It stays as it is because it holds other files; the files of penstock are closed',
  })
})

test('doctor reports an open directory as a note, also if the next start closes it', async () => {
  await using directory = await existingDirectory()
  const doctor = async () => (await penstock(['doctor', '--data-dir', directory.path], { env: freePorts })).stdout
  expect(await doctor()).toContain(`note  other users can list ${directory.path}; the next start closes it\n`)
  writeFileSync(join(directory.path, 'notes.txt'), 'mine', { mode: 0o644 })
  await penstock(['migrate', '--data-dir', directory.path])
  const note = `note  other users can list ${directory.path}: it stays as it is because it holds other files`
  expect(await doctor()).toContain(`${note}: chmod 700 ${directory.path}\n`)
  chmodSync(directory.path, 0o775)
  expect(await doctor()).toContain(
    `WRONG its group can replace files in ${directory.path}: chmod g-w ${directory.path}\n`,
  )
})

test('a directory with other files that its group can write is refused with one line', async () => {
  await using directory = await temporaryDirectory()
  writeFileSync(join(directory.path, 'notes.txt'), 'mine')
  chmodSync(directory.path, 0o775)
  const { exitCode, stderr } = await penstock(['migrate', '--data-dir', directory.path])
  expect(exitCode).toBe(2)
  expect(stderr).toBe(`penstock: its group can replace files in ${directory.path}; run: chmod g-w ${directory.path}\n`)
  expect(readdirSync(directory.path)).toEqual(['notes.txt'])
})

test('a directory with other files that every user can write is refused with one line', async () => {
  await using directory = await temporaryDirectory()
  writeFileSync(join(directory.path, 'notes.txt'), 'mine')
  chmodSync(directory.path, 0o777)
  const { exitCode, stderr } = await penstock(['migrate', '--data-dir', directory.path])
  expect(exitCode).toBe(2)
  expect(stderr).toBe(
    `penstock: every user can replace files in ${directory.path}; run: chmod go-w ${directory.path}\n`,
  )
  expect(readdirSync(directory.path)).toEqual(['notes.txt'])
})

test('doctor names each file that other users can read, and changes nothing', async () => {
  await using directory = await temporaryDirectory()
  await penstock(['migrate', '--data-dir', directory.path])
  const file = join(directory.path, 'core.db')
  chmodSync(file, 0o644)
  const { exitCode, stdout } = await penstock(['doctor', '--data-dir', directory.path], {
    env: freePorts,
  })
  expect(exitCode).toBe(1)
  expect(stdout).toContain(`WRONG others on this machine may read ${file}: chmod 600 ${file}\n`)
  expect(statSync(file).mode & 0o777).toBe(0o644)
})

test('a link to repositories elsewhere is followed', async () => {
  await using directory = await temporaryDirectory()
  await using elsewhere = await existingDirectory()
  symlinkSync(elsewhere.path, join(directory.path, 'repositories'))
  await penstock(['migrate', '--data-dir', directory.path])
  expect(openPaths(elsewhere.path)).toEqual([])
})
