// Runs `penstock` with these arguments from the build, and restarts it when a source has changed. Ends with Ctrl-C.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
// A restart does not wait for load balancers.
const env = { PENSTOCK_DRAIN_DELAY_MS: '0', ...process.env }
const start = (command, args) => spawn(command, args, { cwd: root, env, stdio: 'inherit' })

const children = [
  // Compiles what has changed; node then sees that files it has loaded are new.
  start(join(root, 'node_modules/.bin/tsc'), ['-b', '--watch', '--preserveWatchOutput']),
  start(process.execPath, [
    '--watch',
    '--watch-preserve-output',
    join(root, 'packages/cli/bin/penstock.mjs'),
    ...process.argv.slice(2),
  ]),
]
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const child of children) child.kill(signal)
  })
}
for (const child of children) {
  child.on('exit', () => {
    for (const other of children) other.kill('SIGTERM')
  })
}
