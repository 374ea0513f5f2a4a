import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { serving } from '../cli/serving.ts'

const rootToken = 'root-token-of-the-disk-test'

/** Returns a directory on a file system of its own, which is small. */
function smallDisk(): string {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', directory])
  onTestFinished(() => {
    execFileSync('umount', ['-l', directory])
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

/** Appends to a file until the disk is full. */
function fill(file: string): void {
  for (let bytes = 1024 * 1024; bytes >= 1; ) {
    try {
      appendFileSync(file, Buffer.alloc(bytes))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      bytes = Math.floor(bytes / 2)
    }
  }
}

// Only root may mount a file system.
test.skipIf(process.getuid?.() !== 0)(
  'a full disk refuses every write for the moment, and the service is not ready',
  async () => {
    const dataDir = smallDisk()
    const { managementUrl, stdout, end } = await serving(
      [],
      { PENSTOCK_DATA_DIR: dataDir, PENSTOCK_ROOT_TOKEN: rootToken },
      { endsWithTest: false },
    )
    try {
      const coreUrl = /The REST API is on (\S+)\/api\/v4,/.exec(stdout.text)![1]!
      const post = async (path: string, body: unknown) => {
        const answer = await fetch(`${coreUrl}/api/v4${path}`, {
          method: 'POST',
          headers: { 'private-token': rootToken, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        return {
          status: answer.status,
          retryAfter: answer.headers.get('retry-after'),
          json: (await answer.json()) as { id: number },
        }
      }
      const ready = async () => [
        (await fetch(`${coreUrl}/readyz`)).status,
        await (await fetch(`${managementUrl}/readyz`)).text(),
      ]
      const { json: project } = await post('/projects', { name: 'tools', path: 'tools' })
      const writes = {
        commit: (name: string) =>
          post(`/projects/${project.id}/repository/commits`, {
            branch: 'main',
            commit_message: name,
            actions: [{ action: 'create', file_path: name, content: name }],
          }),
        page: (name: string) => post(`/projects/${project.id}/wikis`, { title: name, content: name }),
        issue: (name: string) =>
          post(`/projects/${project.id}/issues`, { title: name, description: 'x'.repeat(100_000) }),
        tag: (name: string) =>
          post(`/projects/${project.id}/repository/tags`, {
            tag_name: name,
            ref: 'main',
            message: 'x'.repeat(100_000),
          }),
      }
      for (const write of Object.values(writes)) expect(await write('before')).toMatchObject({ status: 201 })
      expect(await ready()).toEqual([200, 'ready\n'])

      const filler = join(dataDir, 'filler')
      fill(filler)
      for (const [name, write] of Object.entries(writes)) {
        expect({ name, ...(await write('full')) }).toMatchObject({ name, status: 503, retryAfter: expect.any(String) })
      }
      await expect
        .poll(ready)
        .toEqual([503, 'not ready: the data directory cannot be written to: no space left on device\n'])

      rmSync(filler)
      for (const write of Object.values(writes)) expect(await write('after')).toMatchObject({ status: 201 })
      await expect.poll(ready).toEqual([200, 'ready\n'])
    } finally {
      await end()
    }
  },
)
