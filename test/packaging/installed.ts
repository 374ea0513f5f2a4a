import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'

const packer = createRequire(import.meta.url).resolve('@penstock/toolchain/pack.mjs')
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** A temporary directory with the packages as they are published. */
export interface PackedFiles extends Disposable {
  readonly directory: string
  /** Returns the path of the tarball of a package, named as npm does: `penstock-otlp` for `@penstock/otlp`. */
  tarball(name: string): string
}

/** Packs the build of the checkout into a temporary directory. */
export function packFiles(): PackedFiles {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-packed-'))
  execFileSync(process.execPath, [packer, directory], { encoding: 'utf8' })
  return {
    directory,
    tarball: (name) => join(directory, `${name}-${version}.tgz`),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** Installs tarballs and packages of the registry into a directory with npm. @throws {Error} with npm's output if it fails */
export function npmInstall(directory: string, ...packages: readonly string[]): void {
  const headers = join(dirname(process.execPath), '..')
  const env = {
    ...process.env,
    // npm compiles SQLite if it cannot download a prebuilt file; node-gyp then needs headers that it may be unable to download.
    ...(existsSync(join(headers, 'include/node/node.h')) && { npm_config_nodedir: headers }),
  }
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages]
  const { status, stderr, stdout } = spawnSync('npm', args, { cwd: directory, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm install failed:\n${stdout}${stderr}`)
}
