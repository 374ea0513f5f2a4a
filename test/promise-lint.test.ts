import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Code with one forgotten promise per line. The two lint rules that find them are new, so this test checks that they work. */
const mistakes = `async function save(): Promise<boolean> {
  return true
}
export function callers(items: string[]): void {
  save()
  save().then(() => 1)
  items.forEach(async () => { await save() })
  if (save()) items.pop()
  ;[1, 2].map(async () => { await save() })
}
`

const root = join(import.meta.dirname, '..')

test('the linter finds every forgotten promise', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'promise-lint-'))
  try {
    const { linter } = JSON.parse(await readFile(join(root, 'biome.json'), 'utf8')) as { linter: object }
    await writeFile(join(directory, 'biome.json'), JSON.stringify({ linter }))
    await writeFile(join(directory, 'mistakes.ts'), mistakes)
    const biome = join(root, 'node_modules/.bin/biome')
    const { stdout } = await promisify(execFile)(biome, ['lint', '--reporter=json', 'mistakes.ts'], {
      cwd: directory,
    }).catch((failed: { stdout: string }) => failed)
    const found = [...stdout.matchAll(/lint\/nursery\/(no(?:Floating|Misused)Promises)/g)].map((match) => match[1])
    expect(found.filter((rule) => rule === 'noFloatingPromises').length).toBeGreaterThanOrEqual(3)
    expect(found.filter((rule) => rule === 'noMisusedPromises').length).toBeGreaterThanOrEqual(2)
  } finally {
    await rm(directory, { recursive: true })
  }
})
