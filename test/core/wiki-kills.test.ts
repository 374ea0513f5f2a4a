import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { repositoryPath } from '@penstock/testkit'
import { sql } from 'kysely'
import { FSCK_TIMEOUT_MS, proveRowsAndRepositoriesAgree, type Stored } from './kill-proof.ts'
import { type PageStates, WikiWriter } from './wiki-writes.ts'

proveRowsAndRepositoriesAgree({
  name: 'wikis',
  seed: 20_261_124,
  createParent: async (core) => (await core.must('POST', '/groups', { name: 'ops', path: 'ops' })).id,
  newWriter: (_core, groupId, random, name) => new WikiWriter(groupId, random, name),
  faultsOf,
})

const textOf = (pages: PageStates) => JSON.stringify([...pages].toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Returns the differences between the pages, their rows, the repository and the acknowledged writes. */
async function faultsOf({ core, db, dataDir, parentId }: Stored, writers: readonly WikiWriter[]): Promise<string[]> {
  const listed: { slug: string; content: string; wiki_page_meta_id: number }[] = await core.must(
    'GET',
    `/groups/${parentId}/wikis?with_content=true`,
  )
  const faults: string[] = []
  for (const writer of writers) {
    const own = listed.filter(({ slug }) => slug.startsWith(`${writer.name}/`))
    const stored = new Map(own.map(({ slug, content }) => [slug, content]))
    if (![writer.pages, writer.pending ?? writer.pages].some((pages) => textOf(pages) === textOf(stored)))
      faults.push(`the pages of ${writer.name} differ from its acknowledged writes`)
    writer.pages = stored
    writer.pending = undefined
    writer.ids.clear()
    for (const { slug, wiki_page_meta_id: id } of own) writer.ids.set(slug, id)
  }
  const { rows } = await sql<{ slug: string }>`select slug from wiki_pages order by id`.execute(db.read)
  const slugs = (pages: readonly { readonly slug: string }[]) => pages.map(({ slug }) => slug).toSorted()
  if (slugs(rows).join() !== slugs(listed).join())
    faults.push(`there are rows for ${slugs(rows)}, pages ${slugs(listed)}`)
  if (listed.length === 0) return faults
  const gitdir = repositoryPath(
    { settings: { repositoriesDir: join(dataDir, 'repositories') } },
    `group-wikis/${parentId}`,
  )
  const fsck = ['--git-dir', gitdir, 'fsck', '--full', '--strict', '--no-dangling', '--no-progress']
  const { stdout } = await promisify(execFile)('git', fsck, { timeout: FSCK_TIMEOUT_MS })
  return stdout === '' ? faults : [...faults, `git fsck: ${stdout}`]
}
