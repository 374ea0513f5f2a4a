#!/usr/bin/env node
/*
 * Builds the Gitea of test/gitea/program.json and prints the path of its program as the last line. What the program reads beside
 * itself, such as its texts and templates, is copied into the folder `static` next to it.
 *
 *   node build-gitea.mjs                build it, unless the cache has it
 *   node build-gitea.mjs --print-path   only print its path, even if it is not built
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildModule, buildProgram, programPath } from './pinned-program.mjs'

const manifest = readFileSync(new URL('../../test/gitea/program.json', import.meta.url), 'utf8')
const row = JSON.parse(manifest)
const gitea = programPath('gitea', manifest)
const folders = ['options', 'public', 'templates']

const failure = process.argv.includes('--print-path')
  ? undefined
  : buildProgram('gitea', gitea, (workDir, go) => {
      const built = buildModule('gitea', row, workDir, go)
      const args = ['mod', 'download', '-json', `${row.module}@${row.version}`]
      const { Dir: source } = JSON.parse(go(args, { keepOutput: true }))
      const target = join(dirname(gitea), 'static')
      mkdirSync(target, { recursive: true })
      for (const folder of folders) cpSync(join(source, folder), join(target, folder), { recursive: true })
      // Modules are read-only, and so would be the copies, which could not be removed.
      spawnSync('chmod', ['-R', 'u+w', target])
      return built
    })
if (failure === undefined) {
  console.log(gitea)
} else {
  console.error(`gitea: ${failure}`)
  process.exitCode = 1
}
