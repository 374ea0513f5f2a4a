import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryPath } from '@penstock/testkit'
import type { Stored } from './kill-proof.ts'
import type { SnippetState, SnippetWriter } from './snippet-writes.ts'

const run = promisify(execFile)

/**
 * Returns the differences between the rows, the repositories and the acknowledged writes. A write without an answer may
 * be stored or not. The writers continue with what is stored.
 */
export async function snippetFaults(checked: Stored, writers: readonly SnippetWriter[]): Promise<string[]> {
  const stored = await storedSnippets(checked)
  const faults = await repositoryFaults(checked, stored)
  for (const writer of writers) {
    const { pending } = writer
    if (pending !== undefined) {
      const id = pending.id ?? idOf(stored, pending.after!.title)
      const found = id === undefined ? undefined : stored.get(id)
      if (isSame(found, pending.after) && found !== undefined) writer.snippets.set(id!, pending.after!)
      else if (isSame(found, pending.after) && id !== undefined) writer.snippets.delete(id)
      else if (!isSame(found, pending.before)) faults.push(`snippet ${id} is stored partially`)
      writer.pending = undefined
    }
    for (const [id, state] of writer.snippets) {
      if (!isSame(stored.get(id), state)) faults.push(`snippet ${id} differs from its last acknowledged write`)
    }
  }
  const known = new Set(writers.flatMap(({ snippets }) => [...snippets.keys()]))
  return [
    ...faults,
    ...[...stored.keys()].filter((id) => !known.has(id)).map((id) => `snippet ${id} was not requested`),
  ]
}

const idOf = (stored: ReadonlyMap<number, SnippetState>, title: string): number | undefined =>
  [...stored].find(([, state]) => state.title === title)?.[0]

function isSame(one: SnippetState | undefined, other: SnippetState | undefined): boolean {
  const text = (state: SnippetState | undefined) =>
    state && JSON.stringify([state.title, [...state.files].toSorted(([a], [b]) => (a < b ? -1 : 1))])
  return text(one) === text(other)
}

/** Returns the snippets as REST shows them, with the contents of their files. */
async function storedSnippets({ core, parentId: projectId }: Stored): Promise<Map<number, SnippetState>> {
  const snippets = new Map<number, SnippetState>()
  for (let page = 1; ; page += 1) {
    const listed = await core.must('GET', `/projects/${projectId}/snippets?per_page=100&page=${page}`)
    for (const { id, title, files } of listed) {
      const contents = new Map<string, string>()
      for (const { path } of files) {
        const url = `${core.url}/projects/${projectId}/snippets/${id}/files/main/${encodeURIComponent(path)}/raw`
        const reply = await fetch(url, { headers: core.credential })
        if (reply.status === 200) contents.set(path, await reply.text())
      }
      snippets.set(id, { title, files: contents })
    }
    if (listed.length < 100) return snippets
  }
}

/** Returns what Git reports, directories that belong to no snippet, and files that the rows do not name. */
async function repositoryFaults({ dataDir }: Stored, stored: ReadonlyMap<number, SnippetState>): Promise<string[]> {
  const settings = { repositoriesDir: join(dataDir, 'repositories') }
  const directory = join(settings.repositoriesDir, 'snippets')
  const names = existsSync(directory) ? readdirSync(directory) : []
  const expected = [...stored.keys()].map((id) => basename(repositoryPath({ settings }, `snippets/${id}`)))
  const faults = [
    ...names.filter((name) => !expected.includes(name)).map((name) => `${name} belongs to no snippet`),
    ...expected.filter((name) => !names.includes(name)).map((name) => `${name} is missing`),
  ]
  for (const [id, { files }] of stored) {
    const gitdir = repositoryPath({ settings }, `snippets/${id}`)
    if (!existsSync(gitdir)) continue
    const git = async (...args: string[]) =>
      (await run('git', ['--git-dir', gitdir, ...args], { timeout: 60_000 })).stdout
    try {
      const output = await git('fsck', '--full', '--strict', '--no-dangling', '--no-progress')
      if (output !== '') faults.push(`git fsck ${id}.git: ${output}`)
      const paths = (await git('ls-tree', '-r', '--name-only', 'main')).trim().split('\n')
      if (paths.join() !== [...files.keys()].join()) faults.push(`${id}.git has ${paths}, its row ${[...files.keys()]}`)
    } catch (error) {
      faults.push(`git on ${id}.git: ${(error as Error).message}`)
    }
  }
  return faults
}
