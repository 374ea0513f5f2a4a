import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'

const builder = createRequire(import.meta.url).resolve('@penstock/toolchain/build-gitea.mjs')

/** Returns the path of Gitea for this checkout's manifest; `undefined` if it has not been built. */
export function giteaProgram(): string | undefined {
  const path = execFileSync(process.execPath, [builder, '--print-path'], { encoding: 'utf8' }).trim()
  return existsSync(path) ? path : undefined
}
