import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const bin = createRequire(import.meta.url).resolve('@penstock/cli/bin/penstock.mjs')
const killing = new URL('kill-at-call.mjs', import.meta.url).href

/** Runs `penstock restore` in a process that kills itself at its call `killAt` of the file system, counted from 1. */
function restoreInProcess(dataDir: string, backup: string, killAt?: number) {
  const { status, signal, stderr } = spawnSync(process.execPath, ['--import', killing, bin, 'restore', backup], {
    env: {
      PATH: process.env.PATH ?? '',
      PENSTOCK_DATA_DIR: dataDir,
      ...(killAt !== undefined && { KILL_AT_CALL: String(killAt) }),
    },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, signal, stderr, calls: Number(/calls of the file system: (\d+)/.exec(stderr)?.[1]) }
}

/** Returns what the data directory holds: a user and a token per state, the key, and whether its repositories are there. */
function contents(dataDir: string) {
  const texts = (file: string, table: string, column: string) => {
    const database = new Sqlite(join(dataDir, file), { readonly: true, fileMustExist: true })
    try {
      return database.prepare<[], string>(`select ${column} from ${table}`).pluck().all()
    } finally {
      database.close()
    }
  }
  return {
    users: texts('core.db', 'users', 'email'),
    tokens: texts('gateway.db', 'ingest_tokens', 'name'),
    key: readFileSync(join(dataDir, 'secrets.key'), 'utf8'),
    hasRepositories: existsSync(join(dataDir, 'repositories')),
  }
}

/** Changes the user and the token, so that both databases differ from the backup. */
function change(dataDir: string, name: string): void {
  for (const [file, table, column] of [
    ['core.db', 'users', 'email'],
    ['gateway.db', 'ingest_tokens', 'name'],
  ] as const) {
    const database = new Sqlite(join(dataDir, file))
    database.prepare(`update ${table} set ${column} = ?`).run(name)
    database.close()
  }
}

test.each([
  ['with its keys', []],
  ['without keys', ['--without-keys']],
])(
  'a restore of a backup %s that is killed at any step never leaves a half of it in use',
  async (_, flags) => {
    await using directory = await temporaryDirectory()
    const dataDir = join(directory.path, 'data')
    const backup = join(directory.path, 'backup')
    const run = (...args: string[]) => penstock(args, { env: { PENSTOCK_DATA_DIR: dataDir }, stdin: 'correct horse\n' })
    const must = async (...args: string[]) => expect(await run(...args)).toMatchObject({ exitCode: 0 })
    const add = async (name: string) => {
      await must('user', 'create', '--username', name, '--name', name, '--email', `${name}@example.test`)
      await must('token', 'create', '--name', name)
    }
    await add('early')
    await must('backup', backup, ...flags)
    const restored = contents(dataDir)
    change(dataDir, 'late')

    const { status, calls } = restoreInProcess(dataDir, backup)
    expect({ status, contents: contents(dataDir) }).toEqual({
      status: 0,
      contents: { ...restored, hasRepositories: true },
    })
    expect(calls).toBeGreaterThan(10)
    for (let call = 1; call <= calls; call += 1) {
      change(dataDir, `late ${call}`)
      const before = contents(dataDir)
      expect(restoreInProcess(dataDir, backup, call)).toMatchObject({ signal: 'SIGKILL' })
      const { exitCode, stderr } = await run('token', 'list')
      if (exitCode === 0) expect([before, { ...restored, hasRepositories: true }]).toContainEqual(contents(dataDir))
      else
        expect([exitCode, stderr]).toEqual([2, expect.stringContaining('was not finished: run penstock restore again')])
      expect(restoreInProcess(dataDir, backup)).toMatchObject({ status: 0 })
      expect(contents(dataDir)).toEqual({ ...restored, hasRepositories: true })
      expect(readdirSync(dataDir).filter((name) => /^restore-/.test(name))).toEqual([])
      await must('doctor')
      for (const name of readdirSync(dataDir))
        if (name.startsWith('before-restore-')) rmSync(join(dataDir, name), { recursive: true })
    }
  },
  300_000,
)
