// Runs `penstock` with these arguments from the build, and restarts it when a source has changed. Beside it, Vite serves the
// console, reloads it when one of its sources has changed, and passes calls of the API on. Ends with Ctrl-C.
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const env = {
  // A restart does not wait for load balancers.
  PENSTOCK_DRAIN_DELAY_MS: '0',
  // The sign-in link leads to the console that reloads; vite.config.ts of packages/web has the same address.
  PENSTOCK_OBS_EXTERNAL_URL: 'http://127.0.0.1:5173',
  ...process.env,
}
const start = (command, args, more) =>
  spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'], ...more })

// Compiles what has changed; node then sees that files it has loaded are new. `tsc` starts the compiler as a child, so both
// are ended as a group.
const compiler = start(join(root, 'node_modules/.bin/tsc'), ['-b', '--watch', '--preserveWatchOutput'], {
  detached: true,
})
const consoleServer = start(join(root, 'node_modules/.bin/vite'), ['--logLevel', 'warn', 'packages/web'])
const service = start(process.execPath, [
  '--watch',
  '--watch-preserve-output',
  // Not the bundle, so that a change needs no second step.
  join(root, 'packages/cli/dist/main.js'),
  ...process.argv.slice(2),
])

function endOthers() {
  consoleServer.kill('SIGTERM')
  if (compiler.exitCode === null && compiler.signalCode === null) process.kill(-compiler.pid, 'SIGTERM')
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => service.kill(signal))
service.on('exit', endOthers)
for (const other of [compiler, consoleServer]) other.on('exit', () => service.kill('SIGTERM'))
