import { createBranch, createCommit, getFile, listCommits } from '@penstock/core'
import type { MatrixServer, Parent } from './http-matrix-server.ts'
import type { Values } from './matrix-area.ts'

export async function withBranch(server: MatrixServer, project: Parent, branch = 'seeds'): Promise<Values> {
  const values = await withRepository(server, project)
  const { world, root } = server
  // The branch may already exist.
  await world.perform(root, createBranch, { project: project.id, branch, ref: 'main' }).catch(() => {})
  return { ...values, branch }
}

export async function withRepository({ world, root }: MatrixServer, { id: project }: Parent): Promise<Values> {
  const { items } = await world.perform(root, listCommits, { project })
  if (items.length === 0)
    await world.perform(root, createCommit, {
      project,
      branch: 'main',
      commitMessage: 'Begin',
      actions: [{ action: 'create', filePath: 'README.md', content: '# tools\n' }],
    })
  const { blobSha, commitSha } = await world.perform(root, getFile, { project, filePath: 'README.md', ref: 'main' })
  return { sha: commitSha, blob: blobSha, file_path: 'README.md' }
}
