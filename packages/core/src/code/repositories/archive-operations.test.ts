import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { getArchive } from './archive-operations.ts'
import { GitHistory } from './git-history.harness.ts'

let world: World
let mira: User
let project: Project
let history: GitHistory
let sha: string

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  project = await world.project('tools', mira)
  history = await GitHistory.create(world, project)
  history.commit({
    'README.md': '# x\n',
    'src/ü.txt': 'ü'.repeat(100_000),
    'src/deep/b.txt': '',
    'src.txt': 'x',
    'bin/run.sh': '#!',
  })
  history.git('update-index', '--chmod=+x', 'bin/run.sh')
  const link = execFileSync('git', ['--git-dir', history.gitdir, 'hash-object', '-w', '--stdin'], {
    input: 'README.md',
    encoding: 'utf8',
  }).trim()
  history.git('update-index', '--add', '--cacheinfo', `120000,${link},link`)
  history.git('commit', '--quiet', '--message', 'Add a link')
  sha = history.git('rev-parse', 'HEAD')
})

afterEach(() => world.close())

const archive = async (input: object = {}) => {
  const { fileName, stream } = await world.perform(mira, getArchive, { project: project.id, ...input })
  return { fileName, bytes: await buffer(stream) }
}

let count = 0
/** Extracts an archive with other programs, and returns the kind, the mode and the content of each entry by path. */
function extracted(bytes: Uint8Array, format: string): Record<string, string> {
  count += 1
  const directory = join(world.directory, `extracted-${count}`)
  mkdirSync(directory)
  const file = join(directory, '..', `archive-${count}.${format}`)
  writeFileSync(file, bytes)
  if (format === 'zip') execFileSync('python3', ['-c', unzip, file, directory])
  else execFileSync('tar', ['-xpf', file, '-C', directory])
  const entries: Record<string, string> = {}
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const { mode, mtimeMs } = lstatSync(path)
    const content = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? readFileSync(path) : ''
    const isExecutable = entry.isFile() && (mode & 0o100) !== 0
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 12)
    entries[path.slice(directory.length + 1)] = [
      entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'directory' : 'file',
      isExecutable ? 'x' : '-',
      entry.isFile() && format !== 'zip' ? mtimeMs : '',
      digest,
    ].join(' ')
  }
  return entries
}
/** Extracts as Info-ZIP does, with symbolic links and permissions. */
const unzip = `
import os, stat, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
  assert archive.testzip() is None
  for info in archive.infolist():
    path = os.path.join(sys.argv[2], info.filename)
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode): os.symlink(archive.read(info).decode(), path)
    else:
      archive.extract(info, sys.argv[2])
      if mode: os.chmod(path, stat.S_IMODE(mode) or 0o644)
`
const ofGit = (format: string, prefix: string, ...paths: string[]) =>
  execFileSync(
    'git',
    ['--git-dir', history.gitdir, 'archive', `--format=${format}`, `--prefix=${prefix}/`, sha, ...paths],
    {
      maxBuffer: 1 << 26,
    },
  )

test.each(['tar.gz', 'tar', 'zip'] as const)('a %s contains what the archive of Git contains', async (format) => {
  const { fileName, bytes } = await archive({ format })
  expect(fileName).toBe(`tools-main-${sha}.${format}`)
  const found = extracted(bytes, format)
  expect(found).toEqual(extracted(ofGit(format, `tools-main-${sha}`), format))
  expect(Object.keys(found)).toContain(`tools-main-${sha}/src/ü.txt`)
  // The same request gives the same bytes.
  expect((await archive({ format })).bytes.equals(bytes)).toBe(true)
})

test('an archive can be limited to a path, and can leave out paths', async () => {
  const { fileName, bytes } = await archive({ sha, path: '/src/deep/' })
  expect(fileName).toBe(`tools-${sha}-${sha}-src-deep.tar.gz`)
  const prefix = fileName.replace(/\.tar\.gz$/, '')
  expect(extracted(bytes, 'tar.gz')).toEqual(extracted(ofGit('tar.gz', prefix, 'src/deep'), 'tar.gz'))
  const without = extracted((await archive({ excludePaths: ['src', 'link'] })).bytes, 'tar.gz')
  expect(
    Object.keys(without)
      .map((path) => path.slice(`tools-main-${sha}`.length))
      .toSorted(),
  ).toEqual(['', '/README.md', '/bin', '/bin/run.sh', '/src.txt'])
  const failure = (error: DomainError) => error.failure
  expect(await archive({ path: 'none' }).catch(failure)).toEqual({ code: 'not_found', what: 'File' })
  expect(await archive({ sha: 'none' }).catch(failure)).toEqual({ code: 'not_found', what: 'File' })
  expect(await archive({ format: 'tar.bz2' }).catch(failure)).toMatchObject({ code: 'parameters' })
})

test('a process sends a limited number of archives at a time, two to one user, until they end or are aborted', async () => {
  const others = await Promise.all(['noor', 'ivo', 'kai', 'lena'].map((name) => world.user(name)))
  for (const user of others) await world.member(project, user, 40)
  const open = (user: User) => world.perform(user, getArchive, { project: project.id })
  const refused = { code: 'too_often', retryAfterSeconds: 10 }
  const failureOf = (user: User) => open(user).catch((error) => error.failure)
  const started = [await open(mira)]
  // Which of the two gets the last archive of the user is not defined.
  const both = await Promise.allSettled([open(mira), open(mira)])
  for (const each of both) {
    if (each.status === 'fulfilled') started.push(each.value)
    else expect(each.reason.failure).toEqual(refused)
  }
  expect(started).toHaveLength(2)
  for (const user of others.slice(0, 3)) started.push(await open(user), await open(user))
  expect(await failureOf(others[3]!)).toEqual(refused)
  for (const { stream } of started) stream.destroy()
  await Promise.all(
    started.map(({ stream }) => stream.closed || new Promise((resolve) => stream.once('close', resolve))),
  )
  expect((await archive()).bytes.length).toBeGreaterThan(100)
})

test.each(['zip', 'tar.gz'] as const)('a %s of a damaged repository ends with an error', async (format) => {
  const oid = history.git('rev-parse', 'main:src/ü.txt')
  const { stream } = await world.perform(mira, getArchive, { project: project.id, format })
  rmSync(join(history.gitdir, 'objects', oid.slice(0, 2), oid.slice(2)))
  await expect(buffer(stream)).rejects.toThrow('damaged')
})
