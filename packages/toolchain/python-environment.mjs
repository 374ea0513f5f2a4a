/*
 * Virtual environments of Python for the tests. One environment has pip, and installs into all others: pip itself would take eight
 * seconds of processor time in each. Modules are not compiled in advance, because the tests import few of them. Needs pip 22.3, which
 * Python 3.11 has.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const pipHome = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock', 'pip')

export const pythonIn = (home) => join(home, 'bin', 'python')
/** The file that marks a complete environment. An environment cannot be renamed, because it contains its own path. */
export const completeIn = (home) => join(home, 'complete')

/**
 * Makes an environment with what a file of requirements names, unless it is complete. `options` are further arguments of `pip install`.
 * `run` runs a program and returns the reason of its failure, as this function does.
 */
export function makeEnvironment(home, requirements, run, options = []) {
  if (existsSync(completeIn(home))) return undefined
  rmSync(home, { recursive: true, force: true })
  const install = ['install', '--quiet', '--no-compile', ...options, '--requirement', requirements]
  const failure =
    makePip(run) ??
    run('python3', ['-m', 'venv', '--without-pip', home]) ??
    runPip(run, ['--python', pythonIn(home), ...install])
  if (failure === undefined) writeFileSync(completeIn(home), '')
  return failure
}

/** Runs pip, as `run` does. An environment must have been made before. */
export function runPip(run, args, cwd) {
  return run(pythonIn(pipHome), ['-m', 'pip', '--disable-pip-version-check', ...args], cwd)
}

function makePip(run) {
  if (existsSync(completeIn(pipHome))) return undefined
  rmSync(pipHome, { recursive: true, force: true })
  const failure = run('python3', ['-m', 'venv', pipHome])
  if (failure === undefined) writeFileSync(completeIn(pipHome), '')
  return failure
}
