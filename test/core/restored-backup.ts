import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { penstock } from '../command-line.ts'
import { CoreProcess } from './core-process.ts'

/** The database of a core that is backed up: SQLite in the data directory, or PostgreSQL with a dump that the operator makes. */
interface Place {
  readonly dataDir: string
  readonly databaseUrl?: string
  dump?(): void
  restoreDump?(): void
}

const readme = (content: string) => ({
  branch: 'main',
  commit_message: 'x',
  actions: [{ action: 'create', file_path: 'README.md', content }],
})

/** Creates a private project with a commit, a wiki page and a snippet, which contain `text`. Returns its id. */
async function fill(core: CoreProcess, name: string, text: string): Promise<number> {
  const { id } = await core.must('POST', '/projects', { name, visibility: 'private' })
  await core.must('POST', `/projects/${id}/repository/commits`, readme(text))
  await core.must('POST', `/projects/${id}/wikis`, { title: 'home', content: text })
  const snippet = { title: name, visibility: 'private', files: [{ file_path: 'a.txt', content: text }] }
  await core.must('POST', `/projects/${id}/snippets`, snippet)
  return id
}

/** Returns what a project shows of its repository, wiki and snippets. */
async function shown(core: CoreProcess, id: number): Promise<unknown[]> {
  const file = await core.call('GET', `/projects/${id}/repository/files/README.md?ref=main`)
  const wiki = await core.call('GET', `/projects/${id}/wikis?with_content=true`)
  const snippets = await core.call('GET', `/projects/${id}/snippets`)
  const content = file.status === 200 ? Buffer.from(file.json.content, 'base64').toString() : file.status
  return [content, wiki.json.map((page: { content: string }) => page.content), snippets.json.length]
}

/**
 * Backs up a core that runs, changes it, restores the backup, and expects that the projects are those of the backup, and that new
 * projects with the ids of lost ones do not see what those had, even if the directories of their repositories are still there.
 */
export async function expectRestored({ dataDir, databaseUrl, dump, restoreDump }: Place): Promise<void> {
  const env = { PENSTOCK_DATA_DIR: dataDir, ...(databaseUrl !== undefined && { PENSTOCK_DATABASE_URL: databaseUrl }) }
  const options = databaseUrl === undefined ? {} : { databaseUrl }
  const backup = join(dataDir, '..', 'backup')
  let kept: number
  let lost: number
  {
    await using core = await CoreProcess.start(dataDir, options)
    kept = await fill(core, 'kept', 'in the backup')
    dump?.()
    const made = await penstock(['backup', backup], { env })
    expect(made, made.stderr).toMatchObject({ exitCode: 0 })
    lost = await fill(core, 'secret', 'the secret')
    await core.must('DELETE', `/projects/${kept}`)
    const { exitCode, stderr } = await penstock(['restore', backup], { env })
    const used = databaseUrl === undefined ? join(dataDir, 'core.db') : dataDir
    expect([exitCode, stderr]).toEqual([
      2,
      `penstock: ${used} is in use: stop every process of penstock on ${dataDir} first\n`,
    ])
  }
  restoreDump?.()
  const restored = await penstock(['restore', backup], { env })
  expect(restored, restored.stderr).toMatchObject({ exitCode: 0 })
  const former = readdirSync(dataDir).find((name) => name.startsWith('before-restore-'))!
  cpSync(join(dataDir, former, 'repositories'), join(dataDir, 'repositories'), { recursive: true })
  await using core = await CoreProcess.start(dataDir, options)
  expect(await shown(core, kept)).toEqual(['in the backup', ['in the backup'], 1])
  const { id: again } = await core.must('POST', '/projects', { name: 'other', visibility: 'private' })
  expect([again, await shown(core, again)]).toEqual([lost, [404, [], 0]])
  await fill(core, 'another', 'new')
  expect(await shown(core, again)).toEqual([404, [], 0])
  const { stdout } = await penstock(['doctor'], { env })
  expect(stdout.match(/^note +\S+ belongs to no repository of/gm)).toHaveLength(3)
  expect(stdout).not.toMatch(/^WRONG.*repositor/m)
  const directories = readdirSync(join(dataDir, 'repositories'))
  rmSync(join(dataDir, 'repositories', directories.find((name) => name.startsWith(`${kept}-`))!), { recursive: true })
  const { exitCode, stderr } = await penstock(['backup', join(dataDir, '..', 'another')], { env })
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`the files of repositories are missing (${kept})`)])
}
