import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Creates a directory that is removed after the test. */
export async function temporaryDirectory(): Promise<
  { path: string; file: (name: string, content: string | Buffer) => Promise<string> } & AsyncDisposable
> {
  const path = await mkdtemp(join(tmpdir(), 'penstock-'))
  return {
    path,
    async file(name, content) {
      const file = join(path, name)
      await writeFile(file, content)
      return file
    },
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true })
    },
  }
}
