/* Installs the programs that Python's requirements do not describe. Each function returns the reason of a failure. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runPip } from '../../../packages/toolchain/python-environment.mjs'

/** glab of Debian 13, which runs on Debian 12 too. The module proxy of Go does not have it. */
export const glabVersion = '1.53.0-1+b3'
/** The package that contains community.general. Only that collection is kept: the whole package has 500 MB. */
export const ansibleVersion = '12.3.0'

/** Downloads the package with lists of its own, so that the machine's sources do not change, and unpacks it. */
export function installGlab(home, run) {
  if (existsSync(home)) return undefined
  console.error('interop: downloading glab')
  const work = mkdtempSync(join(tmpdir(), 'penstock-glab-'))
  const [lists, cache, sources] = [join(work, 'lists'), join(work, 'cache'), join(work, 'sources.list')]
  mkdirSync(join(lists, 'partial'), { recursive: true })
  mkdirSync(join(cache, 'archives', 'partial'), { recursive: true })
  writeFileSync(sources, `deb ${debianMirror()} trixie main\n`)
  const settings = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': lists,
    'Dir::Cache': cache,
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': 'root',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const unpacked = join(work, 'unpacked')
  const failure =
    run('apt-get', [...options, '--quiet=2', 'update'], work) ??
    run('apt-get', [...options, '--quiet=2', 'download', `glab=${glabVersion}`], work) ??
    run('dpkg-deb', ['--extract', packageIn(work), unpacked], work) ??
    moveInto(unpacked, home, run)
  rmSync(work, { recursive: true, force: true })
  return failure
}

/** Returns the mirror from which this machine gets its own release of Debian. */
function debianMirror() {
  const targets = execFileSync('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Component: main'], {
    encoding: 'utf8',
  })
  return targets.split('\n').find((uri) => !uri.includes('security'))
}

const packageIn = (directory) =>
  join(directory, readdirSync(directory).find((name) => name.endsWith('.deb')) ?? 'glab.deb')

/** Unpacks community.general from the wheel of ansible. */
export function installCollection(home, python, run) {
  if (existsSync(home)) return undefined
  console.error('interop: downloading the collection community.general of ansible')
  const work = mkdtempSync(join(tmpdir(), 'penstock-ansible-'))
  const download = ['download', '--quiet', '--no-deps', '--dest', work, `ansible==${ansibleVersion}`]
  const unpacked = join(work, 'unpacked')
  const failure =
    runPip(run, download, work) ??
    run(python, ['-c', unpackCollection, work, unpacked], work) ??
    moveInto(unpacked, home, run)
  rmSync(work, { recursive: true, force: true })
  return failure
}

const unpackCollection = `
import pathlib, sys, zipfile
wheel, = pathlib.Path(sys.argv[1]).glob("*.whl")
with zipfile.ZipFile(wheel) as files:
    names = [name for name in files.namelist() if name.startswith("ansible_collections/community/general/")]
    files.extractall(sys.argv[2], [name for name in names if "/tests/" not in name])
`

/** Moves a directory, also between file systems. It appears under its name only when it is complete. */
function moveInto(from, home, run) {
  const aside = `${home}.${process.pid}`
  mkdirSync(dirname(home), { recursive: true })
  const failure = run('cp', ['-r', from, aside])
  if (failure === undefined) renameSync(aside, home)
  return failure
}
